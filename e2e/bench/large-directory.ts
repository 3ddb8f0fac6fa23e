import { globSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { questions } from './console-lists.ts';
import { Connection } from './harness/http.ts';
import { type Print, printColumns, progress } from './harness/table.ts';
import type { Options } from './options.ts';
import { type BenchedLatchkey, benchedLatchkey } from './subjects/latchkey.ts';
import { onDatabase, populate } from './subjects/population.ts';

const mostMs = 200;
const runs = 5;
const batch = 500_000;
const groupCount = 200;

/** A filter of the corpus, and the resources that it searches. */
interface FilterRequest {
  endpoint: string;
  filter: string;
}

/**
 * Measures lists of 2,000,000 users: those of directories, with every filter of the exchanges
 * (`server/src/scim/exchanges`), and those of the console. Each responds within 200 ms, or refuses with `tooMany`.
 */
export async function largeDirectory(print: Print, { quick }: Options): Promise<void> {
  const people = quick ? 1000 : 2_000_000;
  const latchkey = await benchedLatchkey();
  try {
    const projectId = await latchkey.api.createProject('Large directory');
    const token = await latchkey.api.issueScimToken(projectId);
    for (let from = 0; from < people; from += batch) {
      progress(`large directory: ${from} people`);
      await populate(latchkey.server, projectId, Math.min(batch, people - from), { from, atWork: true });
    }
    await fillGroups(latchkey, projectId, people);
    const ofConsole = await consoleRequests(latchkey, projectId);
    await askAll(print, [...scimRequests(latchkey, projectId, token, people), ...ofConsole]);
  } finally {
    await latchkey.stop();
  }
}

/** Groups of the first people, 1,000 in each. */
export async function fillGroups({ server }: BenchedLatchkey, projectId: string, people: number): Promise<void> {
  await onDatabase(server, async (client) => {
    await client.query(
      `insert into groups (id, project_id, display_name, external_id, version, created_at, updated_at)
       select gen_random_uuid(), $1, 'Group ' || n, 'g-' || n, 1, now(), now() from generate_series(1, $2::int) n`,
      [projectId, groupCount],
    );
    await client.query(
      `insert into group_members (project_id, group_id, user_id, created_at)
       select $1, g.id, u.id, now() from (select id, row_number() over () % $2 as n from
           (select id from users where project_id = $1 limit $3) chosen) u
         join (select id, row_number() over () - 1 as n from groups where project_id = $1) g using (n)`,
      [projectId, groupCount, Math.min(people, 200_000)],
    );
    await client.query('vacuum analyze');
  });
}

/** A request; it resolves to a summary of the response. */
interface BenchRequest {
  page: string;
  ask(): Promise<string>;
}

async function askAll(print: Print, requests: readonly BenchRequest[]) {
  const lines: string[][] = [];
  for (const { page, ask } of requests) {
    const times: number[] = [];
    let outcome = '';
    for (let run = 0; run < runs; run += 1) {
      const began = performance.now();
      outcome = await ask();
      times.push(performance.now() - began);
    }
    const median = times.toSorted((a, b) => a - b)[Math.floor(runs / 2)] ?? Number.NaN;
    lines.push([page, outcome, median.toFixed(1), median <= mostMs ? '✓' : '✗']);
  }
  printColumns(['request', 'outcome', 'median ms', `≤ ${mostMs} ms`], lines, print);
  const over = lines.filter((line) => line.at(-1) === '✗').length;
  print('');
  print(
    `- ${over === 0 ? '✓' : '✗'} ${lines.length} requests, ${runs} times each; ${over} take longer than ${mostMs} ms`,
  );
  print(`- load ${(loadavg()[0] ?? 0).toFixed(1)}`);
}

/** Lists, the deepest page, orders and the filters of the corpus. */
function scimRequests({ server }: BenchedLatchkey, projectId: string, token: string, people: number): BenchRequest[] {
  const connection = new Connection(server.baseUrl);
  const lists: [string, Record<string, string>][] = [
    ['/Users', {}],
    ['/Users', { cursor: '' }],
    ['/Users', { startIndex: String(people / 2) }],
    ['/Users', { startIndex: String(people - 99) }],
    ...['userName', 'id', 'externalId', 'displayName', 'name.familyName', 'meta.lastModified', 'title'].map(
      (sortBy): [string, Record<string, string>] => ['/Users', { sortBy }],
    ),
    ['/Groups', { excludedAttributes: 'members' }],
    ...corpus().map(({ endpoint, filter }): [string, Record<string, string>] => [endpoint, { filter }]),
  ];
  return lists.map(([endpoint, query]) => {
    const path = `/v1/scim/${projectId}${endpoint}?${new URLSearchParams({ ...query, count: '100' })}`;
    const asked = Object.entries(query).map(([name, value]) => (name === 'filter' ? value : `${name}=${value}`));
    return {
      page: `${endpoint} ${asked.join(' ').slice(0, 100)}`,
      ask: async () => {
        const { status, body } = await connection.ask({ path, headers: { Authorization: `Bearer ${token}` } });
        const { scimType, totalResults } = JSON.parse(body) as { scimType?: string; totalResults?: number };
        return status === 200 ? `${totalResults} found` : `${status} ${scimType ?? ''}`;
      },
    };
  });
}

/** The requests of `console-lists`. */
async function consoleRequests({ api, server }: BenchedLatchkey, projectId: string): Promise<BenchRequest[]> {
  const redirectUris = ['https://app.example.com/callback'];
  const { clientId } = await api.createClient({ projectId, name: 'Application', redirectUris });
  const first = (table: string) =>
    onDatabase(server, async (client) => {
      const { rows } = await client.query(`select id from ${table} where project_id = $1 limit 1`, [projectId]);
      return String(rows[0]?.['id']);
    });
  const world = { projectId, clientId, userId: await first('users'), groupId: await first('groups') };
  return questions(world).map(({ page, query, variables }) => ({
    page: `Console. ${page}`,
    ask: async () => {
      await api.run(query, variables);
      return 'answered';
    },
  }));
}

interface Exchange {
  request: string;
  query?: Record<string, string>;
  body?: { filter?: string };
  status: number;
}

/** Each filter once. Placeholders of the exchanges are not filled in: no value matches them. */
function corpus(): FilterRequest[] {
  const folder = join(import.meta.dirname, '../../server/src/scim/exchanges');
  const found = new Map<string, FilterRequest>();
  for (const file of globSync('**/*.json', { cwd: folder }).sort()) {
    const { scenarios } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
      scenarios: { exchanges: Exchange[] }[];
    };
    for (const { request, query, body, status } of scenarios.flatMap(({ exchanges }) => exchanges)) {
      const [, endpoint, search] =
        /^\w+ (\/Users|\/Groups|\/Roles|\/Entitlements)(?:\/\.search)?(?:\?(.*))?$/.exec(request) ?? [];
      const filter = query?.['filter'] ?? new URLSearchParams(search).get('filter') ?? body?.filter;
      if (endpoint !== undefined && typeof filter === 'string' && status === 200)
        found.set(`${endpoint} ${filter}`, { endpoint, filter });
    }
  }
  return [...found.values()];
}
