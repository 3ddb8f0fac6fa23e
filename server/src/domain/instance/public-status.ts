import type { Clock } from '../kernel/clock.ts';

/** Services on the public status page, in its order. */
export const publicServices = ['sign_in', 'mail', 'directory_sync'] as const;
export type PublicService = (typeof publicServices)[number];

/** From best to worst. */
const serviceStates = ['working', 'disrupted', 'unavailable'] as const;
export type ServiceState = (typeof serviceStates)[number];

export interface PublicReport {
  /** The worst of the services. */
  state: ServiceState;
  services: Record<PublicService, ServiceState>;
  at: Date;
}

interface PublicStatusDeps {
  clock: Clock;
  /** Whether a mail server is configured. */
  hasMail: boolean;
  /** The reason why the database does not serve now; null if it does. */
  databaseFault(): string | null;
}

/** Results older than this do not count. Mails are retried more rarely than requests. */
const windowSeconds: Record<PublicService, number> = { sign_in: 120, mail: 600, directory_sync: 120 };
/** Results are kept in slots of this length. */
const slotSeconds = 10;
/** Fewer failures may be the fault of a single request or recipient. */
const leastFailures = 3;
/** Share of failures at which a service counts as disrupted. */
const disruptedShare = 0.1;

/**
 * State of the services as this process sees it, for a page that anyone may read: from recent results in memory, so that a
 * request costs no statement and the page works during an outage of the database. Without figures and reasons.
 */
export class PublicStatus {
  private readonly results: Record<PublicService, { slot: number; good: number; bad: number }[]> = {
    sign_in: [],
    mail: [],
    directory_sync: [],
  };

  constructor(private readonly deps: PublicStatusDeps) {}

  /** Counts a request or message. */
  record(service: PublicService, isGood: boolean): void {
    const slots = this.recent(service);
    const slot = this.slotNow();
    let last = slots.at(-1);
    if (last?.slot !== slot) {
      last = { slot, good: 0, bad: 0 };
      slots.push(last);
    }
    last[isGood ? 'good' : 'bad'] += 1;
  }

  report(): PublicReport {
    const isDown = this.deps.databaseFault() !== null;
    const stateOf = (service: PublicService) => (isDown ? 'unavailable' : this.stateOf(service));
    const mail = this.deps.hasMail ? stateOf('mail') : 'unavailable';
    // Unknown browsers need a code by mail; the others sign in.
    const signIn = worst([stateOf('sign_in'), mail === 'working' ? 'working' : 'disrupted']);
    const services = { sign_in: signIn, mail, directory_sync: stateOf('directory_sync') };
    return { state: worst(Object.values(services)), services, at: this.deps.clock.now() };
  }

  private stateOf(service: PublicService): ServiceState {
    const slots = this.recent(service);
    const sum = (kind: 'good' | 'bad') => slots.reduce((total, slot) => total + slot[kind], 0);
    const [good, bad] = [sum('good'), sum('bad')];
    if (bad < leastFailures || bad < (good + bad) * disruptedShare) return 'working';
    return good === 0 ? 'unavailable' : 'disrupted';
  }

  /** Slots of the window, oldest first; older ones are dropped. */
  private recent(service: PublicService): { slot: number; good: number; bad: number }[] {
    const slots = this.results[service];
    const oldest = this.slotNow() - windowSeconds[service] / slotSeconds;
    while (slots[0] && slots[0].slot <= oldest) slots.shift();
    return slots;
  }

  private slotNow(): number {
    return Math.floor(this.deps.clock.now().getTime() / (slotSeconds * 1000));
  }
}

function worst(states: readonly ServiceState[]): ServiceState {
  return states.reduce((one, other) => (serviceStates.indexOf(other) > serviceStates.indexOf(one) ? other : one));
}
