import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection } from './harness/http.ts';
import { residentBytes } from './harness/process.ts';
import { type Print, printColumns, progress } from './harness/table.ts';
import type { Options } from './options.ts';
import { type BenchedLatchkey, benchedLatchkey } from './subjects/latchkey.ts';
import { onDatabase, populate } from './subjects/population.ts';

const mostBlockedMs = 100;
const mostMegabytes = 256;
const mostAnswerMegabytes = 32;
const sampleMs = 20;
const groupCount = 100;
const megabyte = 2 ** 20;

/** Load of the measured requests on the server. */
interface Cost {
  work: string;
  answers: number;
  largestBytes: number;
  seconds: number;
  /**
   * Longest turn of the event loop: its duration, which includes other load on the machine, and the CPU time of its
   * thread.
   */
  blockedMs: number;
  blockedCpuMs: number;
  /** Memory in addition to that before the requests. */
  moreBytes: number;
}

/**
 * Measures directories that read groups with their members (decisions/0310): pages of 100 groups of 20,000 people, with 20
 * and with 100 groups each, right after the memberships were made; users with their groups; one large group, which is
 * also sent back. Limits: answers of 32 MB, the event loop blocked for 100 ms, 256 MB more than before.
 */
export async function groupLists(print: Print, { quick, only }: Options): Promise<void> {
  const people = quick ? 200 : 20_000;
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-loop-'));
  const probeFile = join(folder, 'turns');
  writeFileSync(probeFile, '');
  const probe = fileURLToPath(new URL('harness/loop-probe.mjs', import.meta.url));
  const latchkey = await benchedLatchkey(1, {
    NODE_OPTIONS: `--import ${probe} ${process.env['BENCH_NODE_OPTIONS'] ?? ''}`,
    LOOP_PROBE_FILE: probeFile,
  });
  const costs: Cost[] = [];
  const measured = async (work: string, run: (ask: Ask) => Promise<void>) => {
    if (only !== undefined && !work.includes(only)) return;
    progress(work);
    costs.push(await costOf(latchkey, probeFile, work, run));
  };
  try {
    for (const each of [20, 100]) {
      const directory = await directoryOf(latchkey, `${each} groups`, people, each);
      const at = `${people.toLocaleString('en')} × ${each}`;
      await measured(`GET /Groups?count=100, ${at}: first page after the fill`, async (ask) => {
        await ask(directory, '/Groups?startIndex=1&count=100');
      });
      await measured(`GET /Groups?count=100, ${at}: all pages`, (ask) => allPages(ask, directory, '/Groups'));
      await measured(`GET /Users?count=100, ${at}: all pages`, (ask) => allPages(ask, directory, '/Users'));
      await measured(`one group of ${at}: GET, PUT of what it gave`, (ask) => readAndReplace(ask, directory));
    }
    const directory = await directoryOf(latchkey, 'one group', quick ? 1000 : 120_000, 1, 1);
    await measured('one group of 120,000: GET, PUT of what it gave', (ask) => readAndReplace(ask, directory));
    await measured('one group of 120,000: four GET at once', async (ask) => {
      const { id } = await firstGroup(ask, directory);
      await Promise.all([1, 2, 3, 4].map(() => ask(directory, `/Groups/${id}`)));
    });
    printCosts(print, costs);
  } finally {
    await latchkey.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Directory {
  path: string;
  token: string;
}

/** Groups of the same size: each user is in `each` of them. */
async function directoryOf(latchkey: BenchedLatchkey, name: string, people: number, each: number, groups = groupCount) {
  progress(`${name}: ${people} people`);
  const projectId = await latchkey.api.createProject(name);
  const token = await latchkey.api.issueScimToken(projectId);
  await populate(latchkey.server, projectId, people);
  await onDatabase(latchkey.server, async (client) => {
    await client.query(
      `insert into groups (id, project_id, display_name, version, created_at, updated_at)
       select gen_random_uuid(), $1, 'Group ' || n, 1, now(), now() from generate_series(1, $2::int) n`,
      [projectId, groups],
    );
    // Not analyzed: the planner's statistics are from before the inserts.
    await client.query(
      `insert into group_members (project_id, group_id, user_id, created_at)
       select $1, g.id, u.id, now()
       from (select id, row_number() over (order by id) as n from groups where project_id = $1) g
         join (select id, row_number() over (order by id) as n from users where project_id = $1) u
           on (g.n + u.n) % $2::int < $3::int`,
      [projectId, groups, each],
    );
  });
  return { path: `/v1/scim/${projectId}`, token };
}

interface Page {
  totalResults: number;
  itemsPerPage: number;
  Resources: { id: string }[];
}

type Ask = (directory: Directory, path: string, body?: string) => Promise<string>;

async function allPages(ask: Ask, directory: Directory, path: string): Promise<void> {
  for (let startIndex = 1; ; ) {
    const page = JSON.parse(await ask(directory, `${path}?startIndex=${startIndex}&count=100`)) as Page;
    startIndex += page.itemsPerPage;
    if (page.itemsPerPage === 0 || startIndex > page.totalResults) return;
  }
}

async function firstGroup(ask: Ask, directory: Directory): Promise<{ id: string }> {
  const page = JSON.parse(await ask(directory, '/Groups?count=1&excludedAttributes=members')) as Page;
  const [group] = page.Resources;
  if (!group) throw new Error('no group');
  return group;
}

async function readAndReplace(ask: Ask, directory: Directory): Promise<void> {
  const { id } = await firstGroup(ask, directory);
  const text = await ask(directory, `/Groups/${id}`);
  const { members } = JSON.parse(text) as { members: object[] };
  await ask(directory, `/Groups/${id}`, text);
  await ask(directory, `/Groups/${id}`, JSON.stringify({ displayName: 'Changed', members: members.slice(1) }));
}

async function costOf(
  { server, subject }: BenchedLatchkey,
  probeFile: string,
  work: string,
  run: (ask: Ask) => Promise<void>,
): Promise<Cost> {
  const began = Date.now();
  const before = residentBytes(subject.serverPids);
  let peak = before;
  const sampling = setInterval(() => {
    peak = Math.max(peak, residentBytes(subject.serverPids));
  }, sampleMs);
  const cost = { answers: 0, largestBytes: 0 };
  const ask: Ask = async ({ path: base, token }, path, body) => {
    const connection = new Connection(server.baseUrl);
    const headers = { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/scim+json' }) };
    const method = body === undefined ? 'GET' : 'PUT';
    const answer = await connection.ask({ method, path: base + path, headers, ...(body && { body }) });
    connection.close();
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.body.slice(0, 300)}`);
    cost.answers += 1;
    cost.largestBytes = Math.max(cost.largestBytes, Buffer.byteLength(answer.body));
    return answer.body;
  };
  await run(ask);
  clearInterval(sampling);
  const turns = readFileSync(probeFile, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number))
    .filter(([at = 0]) => at >= began);
  const longest = (of: (turn: number[]) => number) => Math.max(0, ...turns.map(of));
  return {
    work,
    ...cost,
    seconds: (Date.now() - began) / 1000,
    blockedMs: longest(([, took = 0]) => took),
    blockedCpuMs: longest(([, took = 0, cpu = 0]) => Math.min(took, cpu)),
    moreBytes: peak - before,
  };
}

function printCosts(print: Print, costs: readonly Cost[]): void {
  const lines = costs.map((cost) => [
    cost.work,
    String(cost.answers),
    (cost.largestBytes / megabyte).toFixed(1),
    cost.seconds.toFixed(1),
    cost.blockedMs.toFixed(0),
    cost.blockedCpuMs.toFixed(0),
    (cost.moreBytes / megabyte).toFixed(0),
    isWithin(cost) ? '✓' : '✗',
  ]);
  const head = ['requests', 'answers', 'largest MB', 'seconds', 'longest turn ms', 'of it CPU ms', 'MB more'];
  printColumns([...head, `≤ ${mostAnswerMegabytes} MB, ${mostBlockedMs} ms, ${mostMegabytes} MB`], lines, print);
  print('');
  print(`- load ${(loadavg()[0] ?? 0).toFixed(1)}`);
}

function isWithin({ largestBytes, blockedCpuMs, moreBytes }: Cost): boolean {
  return (
    largestBytes <= mostAnswerMegabytes * megabyte &&
    blockedCpuMs <= mostBlockedMs &&
    moreBytes <= mostMegabytes * megabyte
  );
}
