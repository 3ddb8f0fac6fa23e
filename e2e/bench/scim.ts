import type { Connection } from './harness/http.ts';
import { type Contender, type Figures, measure, type Operation } from './harness/measure.ts';
import { lessCpu, moreOften } from './harness/place.ts';
import { type Print, printTable, progress, type Row } from './harness/table.ts';
import type { Options } from './options.ts';
import { benchedLatchkey } from './subjects/latchkey.ts';
import { type Peer, startPeer } from './subjects/peer.ts';
import { populate } from './subjects/population.ts';

/** A directory's view of a service provider; several where one may not send as fast as it can. */
interface Directory {
  path: string;
  token: string;
  /** Users `user-000000@example.com` … that are there before. */
  population: number;
}

const listed = 100;

/** What directories do all day, at 10,000 users and, Latchkey alone, at 100,000. */
export async function scim(print: Print, options: Options): Promise<Row[]> {
  const { population } = options;
  const latchkey = await benchedLatchkey();
  const peers: { peer: Peer; directory: Directory }[] = [];
  const rows: Row[] = [];
  try {
    // 500 requests a second are allowed each project and process: two directories keep below that.
    const directories: Directory[] = [];
    for (const name of ['One', 'Two']) {
      const projectId = await latchkey.api.createProject(`Directory ${name}`);
      const token = await latchkey.api.issueScimToken(projectId);
      await populate(latchkey.server, projectId, 0, population);
      directories.push({ path: `/v1/scim/${projectId}`, token, population });
    }
    if (options.peers) {
      const database = latchkey.peersDatabase();
      for (const name of ['saml-jackson', 'scimmy'] as const) {
        if (!options.peersNamed(name)) continue;
        const peer = await startPeer(name, options.plan.concurrency, name === 'scimmy' ? undefined : database, {
          POPULATION: String(population),
        });
        if (peer.scim) peers.push({ peer, directory: { ...peer.scim, population } });
      }
    }
    const enter = async (work: string, operation: (directory: Directory) => Operation) => {
      if (options.only !== undefined && !work.includes(options.only)) return;
      const own: Operation = (connection, worker, count) =>
        operations[worker % operations.length]?.(connection, worker, count) as Promise<void>;
      const operations = directories.map(operation);
      const contenders: Contender[] = [
        { subject: latchkey.subject, operation: own },
        ...peers.map(({ peer, directory }) => ({ subject: peer.subject, operation: operation(directory) })),
      ];
      const figures = await measure(contenders, options.plan);
      rows.push({ work, figures, places: placesOf(work, figures) });
      progress(work);
    };
    const at = population.toLocaleString('en');
    await enter(`SCIM filter by userName, ${at} users`, filterByName);
    await enter(`SCIM list of ${listed}, ${at} users`, listPage);
    await enter(`SCIM PATCH, ${at} users`, patchUser);
    await enter(`SCIM POST, ${at} users`, postUser);
    if (population === 10_000 && options.only === undefined) {
      for (const { peer } of peers.splice(0)) await peer.stop();
      for (const directory of directories) {
        const projectId = directory.path.split('/').at(-1) ?? '';
        await populate(latchkey.server, projectId, population, 90_000);
        directory.population = 100_000;
      }
      await enter('SCIM filter by userName, 100,000 users', filterByName);
      await enter(`SCIM list of ${listed}, 100,000 users`, listPage);
      await enter('SCIM PATCH, 100,000 users', patchUser);
      await enter('SCIM POST, 100,000 users', postUser);
    }
    printTable(rows, print);
    return rows;
  } finally {
    for (const { peer } of peers) await peer.stop();
    await latchkey.stop();
  }
}

function placesOf(work: string, figures: Figures[]): Row['places'] {
  if (work.includes('list')) return moreOften(figures, 'scimmy', 1);
  return [
    ...lessCpu(figures, 'saml-jackson', 1 / 1.5),
    ...moreOften(figures, 'saml-jackson', 1.5),
    ...moreOften(figures, 'better-auth', 5),
  ];
}

function nameOf(index: number): string {
  return `user-${String(index).padStart(6, '0')}@example.com`;
}

/** Spread over the population, the same for every contender. */
function indexOf({ population }: Directory, worker: number, count: number): number {
  return ((worker * 7919 + count) * 104_729) % population;
}

function filterByName(directory: Directory): Operation {
  return async (connection, worker, count) => {
    await find(directory, connection, nameOf(indexOf(directory, worker, count)));
  };
}

function listPage(directory: Directory): Operation {
  return async (connection, worker, count) => {
    const pages = Math.max(1, Math.floor(directory.population / listed) - 1);
    const startIndex = 1 + (indexOf(directory, worker, count) % pages) * listed;
    const query = new URLSearchParams({ startIndex: String(startIndex), count: String(listed) });
    const { body } = await ask(directory, connection, 'GET', `/Users?${query}`, undefined, 200);
    const page = JSON.parse(body) as { Resources: unknown[] };
    if (page.Resources.length !== Math.min(listed, directory.population)) {
      throw new Error(`a page of ${page.Resources.length}`);
    }
  };
}

function patchUser(directory: Directory): Operation {
  const ids = new Map<number, string>();
  return async (connection, worker, count) => {
    // Each worker changes a hundred users of its own, found once.
    const index = (worker * 1000 + (count % 100)) % directory.population;
    const id = ids.get(index) ?? (await find(directory, connection, nameOf(index)));
    ids.set(index, id);
    const body = {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'displayName', value: `Renamed ${count}` }],
    };
    await ask(directory, connection, 'PATCH', `/Users/${id}`, JSON.stringify(body), 200);
  };
}

let posted = 0;

function postUser(directory: Directory): Operation {
  return async (connection) => {
    posted += 1;
    const userName = `new-${process.pid}-${posted}@example.com`;
    const body = {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName,
      externalId: `new-${posted}`,
      name: { givenName: 'New', familyName: `Number ${posted}` },
      displayName: `New ${posted}`,
      emails: [{ value: userName, type: 'work', primary: true }],
      active: true,
    };
    await ask(directory, connection, 'POST', '/Users', JSON.stringify(body), 201);
  };
}

async function find(directory: Directory, connection: Connection, name: string): Promise<string> {
  const query = new URLSearchParams({ filter: `userName eq "${name}"` });
  const { body } = await ask(directory, connection, 'GET', `/Users?${query}`, undefined, 200);
  const { Resources: found } = JSON.parse(body) as { Resources: { id: string; userName: string }[] };
  if (found.length !== 1 || found[0]?.userName !== name) throw new Error(`${name} was not found: ${body}`);
  return found[0].id;
}

async function ask(
  { path, token }: Directory,
  connection: Connection,
  method: 'GET' | 'POST' | 'PATCH',
  target: string,
  body: string | undefined,
  status: number,
) {
  const headers = { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/scim+json' }) };
  for (;;) {
    const answer = await connection.ask({ method, path: `${path}${target}`, headers, ...(body && { body }) });
    if (answer.status === 429) {
      // The limit of a project is no fault: it stays on, and is waited for.
      await new Promise((resolve) => setTimeout(resolve, 20));
      continue;
    }
    // RFC 7644 §3.5.2 leaves a PATCH the choice to show nothing.
    const isSilent = method === 'PATCH' && answer.status === 204;
    if (answer.status !== status && !isSilent) throw new Error(`${method} ${target}: ${answer.status} ${answer.body}`);
    return answer;
  }
}
