import type { Connection } from '../harness/http.ts';
import type { Workload } from '../harness/measure.ts';

/** A SCIM client of one project; several if one is rate limited. */
export interface Directory {
  path: string;
  token: string;
  /** Existing users `user-000000@example.com` … */
  population: number;
}

export const listed = 100;

export function nameOf(index: number): string {
  return `user-${String(index).padStart(6, '0')}@example.com`;
}

/** Spread over the population, equal for all contenders. */
function indexOf({ population }: Directory, worker: number, count: number): number {
  return ((worker * 7919 + count) * 104_729) % population;
}

export function filterByName(directory: Directory): Workload {
  const operation: Workload['operation'] = async (connection, worker, count) => {
    await find(directory, connection, nameOf(indexOf(directory, worker, count)));
  };
  return { operation };
}

export function listPage(directory: Directory): Workload {
  const operation: Workload['operation'] = async (connection, worker, count) => {
    const pages = Math.max(1, Math.floor(directory.population / listed) - 1);
    const startIndex = 1 + (indexOf(directory, worker, count) % pages) * listed;
    const query = new URLSearchParams({ startIndex: String(startIndex), count: String(listed) });
    const { body } = await ask(directory, connection, 'GET', `/Users?${query}`, undefined, 200);
    const page = JSON.parse(body) as { Resources: unknown[] };
    if (page.Resources.length !== Math.min(listed, directory.population)) {
      throw new Error(`a page of ${page.Resources.length}`);
    }
  };
  return { operation };
}

export function patchUser(directory: Directory): Workload {
  const ids = new Map<number, string>();
  const operation: Workload['operation'] = async (connection, worker, count) => {
    // Each worker changes up to a hundred separate users, looked up once: concurrent changes of one user may
    // conflict.
    const width = Math.max(1, Math.floor(directory.population / 16));
    const index = (worker * width + (count % Math.min(100, width))) % directory.population;
    const id = ids.get(index) ?? (await find(directory, connection, nameOf(index)));
    ids.set(index, id);
    const body = {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'displayName', value: `Renamed ${count}` }],
    };
    await ask(directory, connection, 'PATCH', `/Users/${id}`, JSON.stringify(body), 200);
  };
  return { operation };
}

let posted = 0;

export function postUser(directory: Directory): Workload {
  const operation: Workload['operation'] = async (connection) => {
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
  return { operation };
}

export async function find(directory: Directory, connection: Connection, name: string): Promise<string> {
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
      // The project's rate limit stays on: wait and retry.
      await new Promise((resolve) => setTimeout(resolve, 20));
      continue;
    }
    // RFC 7644 §3.5.2: a PATCH response may be empty.
    const isSilent = method === 'PATCH' && answer.status === 204;
    if (answer.status !== status && !isSilent) throw new Error(`${method} ${target}: ${answer.status} ${answer.body}`);
    return answer;
  }
}
