/** Limits of a lane in one process. Each is a number of deliveries in progress. */
export interface Lane {
  /** Label of its metrics. */
  name: string;
  atOnce: number;
  /** Less than `atOnce`, so that one project leaves room for the others. */
  ofProject: number;
  /** In all lanes. */
  ofReceiver: number;
}

/** A place in the order: the due deliveries of one lane, project and receiver. */
export interface Waiting {
  /** Index of the lane. */
  lane: number;
  project: string;
  /** The application, webhook or stream; '' if the channel has one receiver, such as a mail server. */
  receiver: string;
}

/** A number of deliveries to claim. */
export interface Picked extends Waiting {
  count: number;
}

/** Counts deliveries in progress, and remembers whose turn was when. */
export class RoundRobin {
  private readonly counts = new Map<string, number>();
  /** The number of the last turn, by project of a lane, and by receiver. */
  private served = new Map<string, number>();
  private turn = 0;

  constructor(private readonly lanes: readonly Lane[]) {}

  /**
   * Deficit round robin with a quantum of one delivery: a lane's free places go to the projects in turn, a project's places
   * to its receivers in turn. Those whose last turn is longest ago come first.
   */
  plan(waiting: readonly Waiting[]): Picked[] {
    this.forget(waiting);
    const counts = new Map(this.counts);
    const picks = new Map<string, Picked>();
    const receiversOf = Map.groupBy(this.inTurn(waiting, receiverKey), projectKey);
    let projects = this.inTurn([...receiversOf.keys()], (key) => key);
    while (projects.length > 0) {
      projects = projects.filter((project) => {
        const receivers = receiversOf.get(project) as Waiting[];
        const next = receivers.shift() as Waiting;
        if (this.isFull(next, counts)) return false;
        if (this.hasRoom(next, counts)) {
          const key = receiverKey(next);
          picks.set(key, { ...next, count: (picks.get(key)?.count ?? 0) + 1 });
          add(counts, next, 1);
          receivers.push(next);
        }
        return receivers.length > 0;
      });
    }
    return [...picks.values()];
  }

  begin(one: Waiting): void {
    this.turn += 1;
    this.served.set(projectKey(one), this.turn).set(receiverKey(one), this.turn);
    add(this.counts, one, 1);
  }

  end(one: Waiting): void {
    add(this.counts, one, -1);
  }

  /** Counts a delivery in progress in another lane, if that has room. @returns where it counts */
  move(one: Waiting, lane: number): Waiting {
    const moved = { ...one, lane };
    if (one.lane === lane || this.isFull(moved, this.counts)) return one;
    add(this.counts, one, -1);
    add(this.counts, moved, 1);
    return moved;
  }

  /** Whether neither this nor another receiver of the project may get a delivery. */
  private isFull(one: Waiting, counts: ReadonlyMap<string, number>): boolean {
    const { atOnce, ofProject } = this.lanes[one.lane] as Lane;
    return (counts.get(`${one.lane}`) ?? 0) >= atOnce || (counts.get(projectKey(one)) ?? 0) >= ofProject;
  }

  private hasRoom(one: Waiting, counts: ReadonlyMap<string, number>): boolean {
    return (counts.get(anyLane(one)) ?? 0) < (this.lanes[one.lane] as Lane).ofReceiver;
  }

  /** Drops projects and receivers with nothing due from the order. */
  private forget(waiting: readonly Waiting[]): void {
    const kept = new Set(waiting.flatMap((one) => [projectKey(one), receiverKey(one)]));
    this.served = new Map([...this.served].filter(([key]) => kept.has(key)));
  }

  private inTurn<T>(all: readonly T[], keyOf: (one: T) => string): T[] {
    return all.toSorted((a, b) => (this.served.get(keyOf(a)) ?? 0) - (this.served.get(keyOf(b)) ?? 0));
  }
}

const projectKey = ({ lane, project }: Waiting) => `${lane} ${project}`;
/** A receiver has one limit for all lanes. */
const anyLane = ({ project, receiver }: Waiting) => `any ${project} ${receiver}`;
const receiverKey = ({ lane, project, receiver }: Waiting) => `${lane} ${project} ${receiver}`;

function add(counts: Map<string, number>, one: Waiting, change: 1 | -1): void {
  for (const key of [`${one.lane}`, projectKey(one), anyLane(one)]) {
    const count = (counts.get(key) ?? 0) + change;
    if (count === 0) counts.delete(key);
    else counts.set(key, count);
  }
}
