import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AdminApi } from '../../support/admin-api.ts';
import { freePort, type Latchkey } from '../../support/latchkey.ts';
import { type Experiment, evaluate, pause, percentile, until } from '../experiment.ts';
import { World } from './world.ts';

const receivers = 20;
/** The receiver that never responds, and the one that returns 500. */
const [hangs, fails] = [0, 1];

const limitMs = 60_000;
/** Time for which the receivers of a killed process wait (decisions/0186). */
const claimMs = 18_000;

/** A process, and its own address. */
interface Process {
  latchkey: Latchkey;
  admin: AdminApi;
}

/** An event about a user. */
interface Change {
  id: string;
  subject: string;
  name: string;
  atMs: number;
}

/** An event as a receiver gets it. */
interface Sent {
  id: string;
  subject: string;
  name: string;
}

export interface Relay {
  name: string;
  /** E.g. `webhooks`. */
  noun: string;
  /** Subscribes a receiver to the events `user.updated` of the project. @param index 0 to 19 */
  subscribe(admin: AdminApi, projectId: string, url: string, index: number): Promise<unknown>;
  /** The events of one request, in order. */
  read(req: IncomingMessage, body: string): Sent[];
}

/** Two processes deliver events of users to 20 receivers, and one process after another is killed. */
export const relayKilled = ({ name, noun, subscribe, read }: Relay): Experiment => ({
  name,
  done: `kill -9 of a process three times while two deliver to 20 ${noun}, of which one hangs and one returns 500`,
  passes:
    'each of the other 18 gets each event at least once, in order for each user, under one id, within 60 s (on a busy ' +
    'machine: three claims, plus four times the duration without a kill)',
  async run({ scale, log }) {
    const users = Math.max(4, Math.round(20 * scale));
    const changes = Math.max(4, Math.round(15 * scale));
    const world = await World.create();
    const inbox = new Inbox(read);
    const port = await inbox.listen();
    world.onClose(() => inbox.close());
    try {
      const processes = [await startProcess(world)];
      const [{ admin }] = processes as [Process];
      const projectId = await admin.createProject('Chaos');
      await Promise.all(
        Array.from({ length: receivers }, (_, index) =>
          subscribe(admin, projectId, `http://127.0.0.1:${port}/${index}`, index),
        ),
      );
      const ids = await Promise.all(Array.from({ length: users }, (_, index) => createUser(admin, projectId, index)));
      processes.push(await startProcess(world));
      let done = 0;
      const work = Promise.all(
        ids.map(async (id) => {
          for (let n = 0; n < changes; n += 1, done += 1) await rename(processes, id, n);
        }),
      );
      for (let kill = 1; kill <= 3; kill += 1) {
        await until(() => done >= (users * changes * kill) / 4, 120_000, 5);
        await processes.shift()?.latchkey.kill();
        log(`killed after ${done} of ${users * changes} changes, ${inbox.count} deliveries`);
        processes.push(await startProcess(world));
      }
      await work;
      const events = await eventsOf(world, projectId);
      const healthy = Array.from({ length: receivers }, (_, index) => index).filter((one) => one > fails);
      await until(() => healthy.every((one) => inbox.at(one).size === events.length), 300_000, 200);
      const faults = healthy.flatMap((one) => faultsOf(one, events, inbox.at(one)));
      const delays = healthy.flatMap((one) =>
        events.map(({ id, atMs }) => (inbox.at(one).get(id)?.firstMs ?? 0) - atMs),
      );
      const again = healthy.flatMap((one) => [...inbox.at(one).values()]).filter(({ times }) => times > 1).length;
      const last = Math.max(...delays);
      const undisturbed = last > limitMs ? await undisturbedMs(processes, ids, changes, inbox) : 0;
      return evaluate(
        `${events.length} events at 18 receivers, median ${percentile(delays, 0.5)} ms, the last after ${(last / 1000).toFixed(1)} s${undisturbed > 0 ? ` (undisturbed ${(undisturbed / 1000).toFixed(1)} s)` : ''}; ${again} deliveries more than once`,
        [
          ...faults,
          events.length < users * changes && `only ${events.length} of ${users * changes} changes have an event`,
          inbox.at(fails).size === 0 && 'the failing receiver was not tried',
          last > Math.max(limitMs, 3 * claimMs + 4 * undisturbed) && `a delivery took ${last} ms`,
        ],
      );
    } finally {
      await world.close();
    }
  },
});

/** Time to deliver the same number of events to 20 receivers that respond, without a kill. */
async function undisturbedMs(
  processes: readonly Process[],
  ids: readonly string[],
  changes: number,
  inbox: Inbox,
): Promise<number> {
  inbox.recover();
  const sum = ids.length * changes;
  const before = inbox.at(receivers - 1).size;
  const startedAt = Date.now();
  await Promise.all(
    ids.map(async (id) => {
      for (let n = changes; n < 2 * changes; n += 1) await rename(processes, id, n);
    }),
  );
  const healthy = Array.from({ length: receivers }, (_, index) => index).filter((one) => one > fails);
  await until(() => healthy.every((one) => inbox.at(one).size >= before + sum), 300_000, 200);
  return Date.now() - startedAt;
}

async function startProcess(world: World): Promise<Process> {
  const port = await freePort();
  const latchkey = await world.start({ PORT: String(port) });
  return { latchkey, admin: new AdminApi(`http://localhost:${port}`, latchkey.adminToken) };
}

async function createUser(admin: AdminApi, projectId: string, index: number): Promise<string> {
  const made = await admin.run<{ createUser: { id: string } }>(
    'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }',
    { input: { projectId, email: `user-${index}@example.com` } },
  );
  return made.createUser.id;
}

/** Repeats the change until a process confirms it. */
async function rename(processes: readonly Process[], id: string, n: number): Promise<void> {
  const input = { id, displayName: `Name ${String(n).padStart(4, '0')}` };
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const process = processes[(n + attempt) % processes.length];
    try {
      await process?.admin.run('mutation ($input: UpdateUserInput!) { updateUser(input: $input) { id } }', { input });
      if (process) return;
    } catch {
      await pause(100);
    }
  }
  throw new Error(`${id} could not be changed`);
}

/** The events of the audit log, in the order of the changes of each user. */
async function eventsOf(world: World, projectId: string): Promise<Change[]> {
  const rows = await world.postgres.query(
    `select id, subject_id as subject, detail->'after'->>'displayName' as name, extract(epoch from at) * 1000 as at
     from audit_log where project_id = '${projectId}' and type = 'user.updated' order by 3`,
  );
  return (rows as Record<string, unknown>[]).map(({ id, subject, name, at }) => ({
    id: String(id),
    subject: String(subject),
    name: String(name),
    atMs: Number(at),
  }));
}

interface Arrival {
  subject: string;
  name: string;
  /** Place among the first arrivals at this receiver. */
  place: number;
  firstMs: number;
  times: number;
}

/** Receivers by path: the events that each has accepted, by id. */
class Inbox {
  readonly #read: Relay['read'];
  #isRecovered = false;
  readonly #arrived = new Map<number, Map<string, Arrival>>();
  readonly #server = createServer(async (req, res) => {
    const receiver = Number(req.url?.slice(1));
    let text = '';
    for await (const chunk of req) text += chunk;
    if (receiver === hangs && !this.#isRecovered) return;
    const events = this.#read(req, text);
    // Counted when the response is out: a request in flight may be lost with its sender.
    await pause(20);
    res.writeHead(receiver === fails && !this.#isRecovered ? 500 : 204).end(() => {
      const own = this.at(receiver);
      for (const { id, subject, name } of events) {
        const known = own.get(id);
        if (known) known.times += 1;
        else own.set(id, { subject, name, place: own.size, firstMs: Date.now(), times: 1 });
      }
    });
  });

  constructor(read: Relay['read']) {
    this.#read = read;
  }

  async listen(): Promise<number> {
    await new Promise<void>((done) => {
      this.#server.listen(0, '127.0.0.1', done);
    });
    return (this.#server.address() as AddressInfo).port;
  }

  get count(): number {
    return [...this.#arrived.values()].reduce((sum, { size }) => sum + size, 0);
  }

  at(receiver: number): Map<string, Arrival> {
    const own = this.#arrived.get(receiver) ?? new Map<string, Arrival>();
    this.#arrived.set(receiver, own);
    return own;
  }

  /** From now on all receivers accept. */
  recover(): void {
    this.#isRecovered = true;
  }

  close(): void {
    this.#server.close().closeAllConnections();
  }
}

function faultsOf(receiver: number, events: readonly Change[], arrived: ReadonlyMap<string, Arrival>): string[] {
  const missing = events.filter(({ id }) => !arrived.has(id)).length;
  const names = new Set([...arrived.values()].map(({ subject, name }) => `${subject} ${name}`));
  const bySubject = Map.groupBy(
    events.filter(({ id }) => arrived.has(id)),
    ({ subject }) => subject,
  );
  const disordered = [...bySubject.values()].filter((own) => {
    const places = own.map(({ id }) => arrived.get(id)?.place ?? 0);
    return places.some((place, index) => index > 0 && place < (places[index - 1] ?? 0));
  }).length;
  return [
    ...(missing > 0 ? [`receiver ${receiver} lacks ${missing} events`] : []),
    ...(names.size < arrived.size ? [`receiver ${receiver} got an event under two ids`] : []),
    ...(disordered > 0 ? [`receiver ${receiver} got the events of ${disordered} users out of order`] : []),
  ];
}
