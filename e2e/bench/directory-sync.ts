import { loadavg } from 'node:os';
import { Connection } from './harness/http.ts';
import { cpuMilliseconds, residentBytes } from './harness/process.ts';
import { type Print, printColumns, progress } from './harness/table.ts';
import type { Options } from './options.ts';
import { type BenchedLatchkey, benchedLatchkey } from './subjects/latchkey.ts';

const limits = { longestMs: 10_000, megabytes: 250, deletesToCreates: 0.3 };
const connections = 8;
/** Members in one PATCH, and operations in one Bulk. */
const chunk = 100;

/** Operations of one phase. */
interface Phase {
  name: string;
  requests: number;
  /** People that the phase creates, changes or deletes. */
  people: number;
  seconds: number;
  /** CPU of the server and its database per person, in milliseconds. */
  cpuMs: number;
  longestMs: number;
}

interface Request {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  body?: object;
  status: number;
}

/**
 * A directory of 20,000 people and 200 groups: a first sync of one request for each person, as most directories do, then
 * moves between groups, deactivations and deletions; and creations and deletions by Bulk.
 */
export async function directorySync(print: Print, { quick }: Options): Promise<void> {
  const size = quick ? { people: 200, groups: 4 } : { people: 20_000, groups: 200 };
  const latchkey = await benchedLatchkey();
  let peak = 0;
  const sampling = setInterval(() => {
    peak = Math.max(peak, residentBytes(latchkey.subject.serverPids));
  }, 100);
  try {
    const directory = await Directory.at(latchkey);
    const phases = await sync(directory, size);
    peak = Math.max(peak, residentBytes(latchkey.subject.serverPids));
    report(print, phases, peak / 2 ** 20, directory.waits);
  } finally {
    clearInterval(sampling);
    await latchkey.stop();
  }
}

async function sync(directory: Directory, { people, groups }: { people: number; groups: number }): Promise<Phase[]> {
  const numbers = Array.from({ length: people }, (_, n) => n);
  const groupNumbers = Array.from({ length: groups }, (_, n) => n);
  const ids: string[] = [];
  const groupIds: string[] = [];
  const phases: Phase[] = [];
  const phase = async (name: string, count: number, work: () => Promise<unknown>) => {
    progress(`directory sync: ${name}`);
    phases.push(await directory.phase(name, count, work));
  };
  await phase('look up and create people', people, () =>
    each(numbers, async (n, ask) => {
      await ask({ method: 'GET', path: `/Users?filter=userName+eq+%22${nameOf(n)}%22`, status: 200 });
      ids[n] = idOf(await ask({ method: 'POST', path: '/Users', body: userOf(n), status: 201 }));
    }),
  );
  await phase('create people', people, () =>
    each(numbers, async (n, ask) => {
      ids[n + people] = idOf(await ask({ method: 'POST', path: '/Users', body: userOf(n + people), status: 201 }));
    }),
  );
  await phase('create groups and add members', people, () =>
    each(groupNumbers, async (g, ask) => {
      const body = { schemas: [groupSchema], displayName: `Group ${g}`, externalId: `g-${g}` };
      const id = idOf(await ask({ method: 'POST', path: '/Groups', body, status: 201 }));
      groupIds[g] = id;
      const members = ids.slice(0, people).filter((_, n) => n % groups === g);
      for (let from = 0; from < members.length; from += chunk) {
        await ask({ ...membersPatch(id, 'add', members.slice(from, from + chunk)), status: 204 });
      }
    }),
  );
  const moved = numbers.slice(0, people / 4);
  await phase('move people between groups', moved.length, () =>
    each(moved, async (n, ask) => {
      const [from = '', to = ''] = [groupIds[n % groups], groupIds[(n + 1) % groups]];
      await ask({ ...membersPatch(from, 'remove', [ids[n] ?? '']), status: 204 });
      await ask({ ...membersPatch(to, 'add', [ids[n] ?? '']), status: 204 });
    }),
  );
  await phase('deactivate people', moved.length, () =>
    each(moved, async (n, ask) => {
      const body = patchOf({ op: 'replace', value: { active: false } });
      await ask({ method: 'PATCH', path: `/Users/${ids[n]}`, body, status: 200 });
    }),
  );
  await phase('delete people without groups', people, () =>
    each(numbers, (n, ask) => ask({ method: 'DELETE', path: `/Users/${ids[n + people]}`, status: 204 })),
  );
  await phase('delete members of groups', people, () =>
    each(numbers, (n, ask) => ask({ method: 'DELETE', path: `/Users/${ids[n]}`, status: 204 })),
  );
  const bulk = (what: (n: number) => object) =>
    each(chunks(numbers, chunk), async (part, ask) => {
      const body = { schemas: [bulkSchema], Operations: part.map(what) };
      const answer = await ask({ method: 'POST', path: '/Bulk', body, status: 200 });
      const { Operations } = JSON.parse(answer) as { Operations: { status: string; location: string }[] };
      const failed = Operations.find(({ status }) => !status.startsWith('2'));
      if (failed) throw new Error(`Bulk: ${JSON.stringify(failed)}`);
      for (const [at, { location }] of Operations.entries()) {
        if (location) ids[part[at] ?? 0] = location.slice(location.lastIndexOf('/') + 1);
      }
    });
  await phase('create people by Bulk', people, () =>
    bulk((n) => ({ method: 'POST', path: '/Users', bulkId: `b${n}`, data: userOf(n) })),
  );
  await phase('delete people by Bulk', people, () => bulk((n) => ({ method: 'DELETE', path: `/Users/${ids[n]}` })));
  return phases;

  function each<T>(items: readonly T[], work: (item: T, ask: Directory['ask']) => Promise<unknown>) {
    return directory.each(items, work);
  }
}

const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const bulkSchema = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';
const nameOf = (n: number) => `person-${n}@example.com`;
const idOf = (answer: string) => (JSON.parse(answer) as { id: string }).id;

function userOf(n: number): object {
  return {
    schemas: [userSchema],
    userName: nameOf(n),
    externalId: `e-${n}`,
    name: { givenName: `Given ${n}`, familyName: `Family ${n}` },
    displayName: `Person ${n}`,
    emails: [{ value: nameOf(n), type: 'work', primary: true }],
    active: true,
  };
}

function patchOf(operation: object): object {
  return { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations: [operation] };
}

/** As Entra ID sends it. */
function membersPatch(id: string, op: string, members: readonly string[]) {
  const body = patchOf({ op, path: 'members', value: members.map((value) => ({ value })) });
  return { method: 'PATCH' as const, path: `/Groups/${id}?excludedAttributes=members`, body };
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}

/** The SCIM client of one project, over several connections. */
class Directory {
  /** Number of 429 responses; it waited after each. */
  waits = 0;
  private longestMs = 0;
  private requests = 0;
  private readonly latchkey: BenchedLatchkey;
  private readonly path: string;
  private readonly token: string;
  private readonly connections: Connection[];

  private constructor(latchkey: BenchedLatchkey, path: string, token: string) {
    this.latchkey = latchkey;
    this.path = path;
    this.token = token;
    this.connections = Array.from({ length: connections }, () => new Connection(latchkey.server.baseUrl));
  }

  static async at(latchkey: BenchedLatchkey): Promise<Directory> {
    const projectId = await latchkey.api.createProject('Directory sync');
    return new Directory(latchkey, `/v1/scim/${projectId}`, await latchkey.api.issueScimToken(projectId));
  }

  async phase(name: string, people: number, work: () => Promise<unknown>): Promise<Phase> {
    const { serverPids, databasePid } = this.latchkey.subject;
    const cpu = () => cpuMilliseconds([...serverPids, ...(databasePid === undefined ? [] : [databasePid])]);
    [this.longestMs, this.requests] = [0, 0];
    const before = cpu();
    const began = performance.now();
    await work();
    const seconds = (performance.now() - began) / 1000;
    const { longestMs, requests } = this;
    return { name, people, requests, seconds, longestMs, cpuMs: (cpu() - before) / people };
  }

  async each<T>(items: readonly T[], work: (item: T, ask: Directory['ask']) => Promise<unknown>): Promise<void> {
    let next = 0;
    const run = async (connection: Connection) => {
      for (let at = next++; at < items.length; at = next++) {
        await work(items[at] as T, (request) => this.ask(request, connection));
      }
    };
    await Promise.all(this.connections.map(run));
  }

  /** The body of the response. Waits for `Retry-After`. */
  async ask({ method, path, body, status }: Request, connection = this.connections[0] as Connection): Promise<string> {
    const text = body && JSON.stringify(body);
    const type: Record<string, string> = text ? { 'Content-Type': 'application/scim+json' } : {};
    const headers = { Authorization: `Bearer ${this.token}`, ...type };
    for (;;) {
      const began = performance.now();
      const answer = await connection.ask({
        method,
        path: `${this.path}${path}`,
        headers,
        ...(text && { body: text }),
      });
      this.longestMs = Math.max(this.longestMs, performance.now() - began);
      this.requests += 1;
      const isSilent = answer.status === 204 || answer.status === 200;
      if (answer.status === status || (method === 'PATCH' && isSilent)) return answer.body;
      if (answer.status !== 429) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`);
      this.waits += 1;
      await new Promise((resolve) => setTimeout(resolve, Number(answer.headers['retry-after'] ?? 1) * 1000));
    }
  }
}

function report(print: Print, phases: readonly Phase[], megabytes: number, waits: number): void {
  const lines = phases.map(({ name, people, requests, seconds, cpuMs, longestMs }) => [
    name,
    String(people),
    String(requests),
    seconds.toFixed(1),
    (people / seconds).toFixed(0),
    cpuMs.toFixed(2),
    longestMs.toFixed(0),
  ]);
  printColumns(['phase', 'people', 'requests', 'seconds', 'people/s', 'CPU ms each', 'longest ms'], lines, print);
  print('');
  const longest = Math.max(...phases.map(({ longestMs }) => longestMs));
  const cost = (name: string) => phases.find((each) => each.name === name)?.cpuMs ?? Number.NaN;
  const rate = (name: string) => {
    const found = phases.find((each) => each.name === name);
    return found ? found.people / found.seconds : Number.NaN;
  };
  const goal = (holds: boolean, text: string) => print(`- ${holds ? '✓' : '✗'} ${text}`);
  goal(longest <= limits.longestMs, `longest request ${longest.toFixed(0)} ms (at most ${limits.longestMs})`);
  goal(megabytes <= limits.megabytes, `memory of the server at most ${megabytes.toFixed(0)} MB (${limits.megabytes})`);
  for (const [create, remove] of [
    ['create people', 'delete people without groups'],
    ['create people by Bulk', 'delete people by Bulk'],
  ] as const) {
    const [ratio, costs] = [rate(remove) / rate(create), cost(remove) / cost(create)];
    const text = `${remove}: ${ratio.toFixed(2)} × the rate and ${costs.toFixed(2)} × the CPU of "${create}"`;
    goal(ratio >= 1 - limits.deletesToCreates, `${text} (rate at least ${1 - limits.deletesToCreates})`);
  }
  print(`- 429 responses: ${waits}; load ${(loadavg()[0] ?? 0).toFixed(1)}`);
}
