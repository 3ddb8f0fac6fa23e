import { cpus } from 'node:os';
import { type Contender, type Figures, measure, type Plan, type Workload } from './harness/measure.ts';
import { cpuOf, type Print, printColumns, progress } from './harness/table.ts';
import type { Options } from './options.ts';
import { type BenchedLatchkey, benchedLatchkey } from './subjects/latchkey.ts';
import { type Size, World } from './subjects/world.ts';

/** Maximum cost ratio of an operation in a large world to a small one: constant, plus noise. */
const mostRatio = 1.25;
/** Below the limit of 500 SCIM requests per second, project and process, because rejections cost too. */
const scimPerSecond = 400;

const workloads = {
  'session → code → exchange → userinfo': (world: World) => world.signInAndAsk(),
  'trusted device: challenge → code': (world: World) => world.signIn(),
  'SCIM filter by userName': (world: World) => world.filterByName(),
};

const small: Size = { projects: 1, usersEach: 1000, sessions: 1000 };
const larger: { grows: keyof Size; size: Size }[] = [
  { grows: 'usersEach', size: { ...small, usersEach: 100_000 } },
  { grows: 'projects', size: { ...small, projects: 10_000, usersEach: 10 } },
  { grows: 'sessions', size: { ...small, sessions: 1_000_000 } },
];
const names: Record<keyof Size, string> = { usersEach: 'users', projects: 'projects', sessions: 'sessions' };
/** All of these together, 10,000,000 users. Only with `--only=largest`: about 45 GB, and more than an hour. */
const largest: Size = { projects: 10_000, usersEach: 1000, sessions: 30_000_000 };

/** The same workloads in small and large worlds, in turn, and with 1, 2 and 4 processes on one database. */
export async function growth(print: Print, options: Options): Promise<void> {
  const { plan, quick } = options;
  const sizeOf = (size: Size) => (quick ? tiny(size) : size);
  const own = await worldOf(sizeOf(small));
  try {
    const lines: string[][] = [];
    for (const { what, size } of stepsOf(options)) {
      // A quick run only tests the benchmark: one server is enough.
      const other = quick ? own : await worldOf(size);
      try {
        for (const [workload, of] of Object.entries(workloads)) {
          progress(`${workload}: ${what}`);
          const [before, after] = await measure([own, other].map(contenderOf(of)), plan);
          if (before && after) lines.push(lineOf(workload, what, before, after));
        }
      } finally {
        if (other !== own) await other.latchkey.stop();
      }
    }
    if (lines.length > 0) printGrowth(lines, print);
    if (options.only === undefined || 'processes'.includes(options.only)) {
      print('');
      await processes(print, own, quick ? [] : [2, 4], plan);
    }
  } finally {
    await own.latchkey.stop();
  }
}

/** The sizes to compare with the small one. */
function stepsOf({ quick, only }: Options): { what: string; size: Size }[] {
  if (only === 'largest')
    return [{ what: '1,000 → 10,000,000 users, 30,000,000 sessions, 10,000 projects', size: largest }];
  return (quick ? larger.slice(-1) : larger)
    .filter(({ grows }) => only === undefined || names[grows].includes(only))
    .map(({ grows, size }) => {
      const [from, to] = [small, quick ? small : size].map((one) =>
        (quick ? tiny(one) : one)[grows].toLocaleString('en'),
      );
      return { what: `${names[grows]}, ${from} → ${to}`, size };
    });
}

function printGrowth(lines: string[][], print: Print): void {
  const head = [
    'growing data',
    'workload',
    'CPU ms: small',
    'large',
    'database: small',
    'large',
    'large / small',
    `≤ ${mostRatio}`,
  ];
  printColumns(head, lines, print);
  print('');
  print('Large / small: CPU of server and database per operation, spread over all rows.');
}

interface Benched {
  latchkey: BenchedLatchkey;
  world: World;
  processes: number;
}

async function worldOf(size: Size, count = 1): Promise<Benched> {
  const latchkey = await benchedLatchkey(count);
  try {
    return { latchkey, world: await World.fill(latchkey, size), processes: count };
  } catch (error) {
    await latchkey.stop();
    throw error;
  }
}

/** A size that fits a quick run. */
function tiny({ projects, usersEach, sessions }: Size): Size {
  const at = (size: number) => Math.ceil(Math.sqrt(size));
  return { projects: at(projects), usersEach: at(usersEach), sessions: at(sessions) };
}

function contenderOf(workload: (world: World) => Workload) {
  return ({ latchkey, world, processes: count }: Benched): Contender => {
    const { operation } = workload(world);
    const isScim = workload === workloads['SCIM filter by userName'];
    return { subject: latchkey.subject, operation: isScim ? atMost(scimPerSecond * count, operation) : operation };
  };
}

function atMost(perSecond: number, operation: Workload['operation']): Workload['operation'] {
  let next = 0;
  return async (...args) => {
    const now = performance.now();
    next = Math.max(now, next + 1000 / perSecond);
    if (next > now) await new Promise((resolve) => setTimeout(resolve, next - now));
    await operation(...args);
  };
}

function lineOf(workload: string, what: string, before: Figures, after: Figures): string[] {
  const ratio = cpuOf(after) / cpuOf(before);
  return [
    what,
    workload,
    cpuOf(before).toFixed(2),
    cpuOf(after).toFixed(2),
    before.databaseCpu.toFixed(2),
    after.databaseCpu.toFixed(2),
    ratio.toFixed(2),
    ratio <= mostRatio ? '✓' : '✗',
  ];
}

async function processes(print: Print, one: Benched, counts: number[], plan: Plan): Promise<void> {
  const contenders = [one];
  try {
    for (const count of counts) contenders.push(await worldOf(small, count));
    const lines: string[][] = [];
    // Each process compiles its own hot code and gets only its share of the warm-up.
    const longer = { ...plan, warmUpSeconds: plan.warmUpSeconds * Math.max(1, ...counts) };
    for (const [workload, of] of Object.entries(workloads)) {
      progress(`${workload}: processes`);
      const figures = await measure(contenders.map(contenderOf(of)), longer);
      const first = figures[0];
      figures.forEach((figure, at) => {
        const count = contenders[at]?.processes ?? 1;
        lines.push([
          at === 0 ? workload : '',
          String(count),
          figure.serverCpu.toFixed(2),
          figure.databaseCpu.toFixed(2),
          first ? (cpuOf(figure) / cpuOf(first)).toFixed(2) : '',
          figure.rate.toFixed(0),
          first ? (figure.rate / first.rate).toFixed(2) : '',
          (figure.memoryBytes / count / 2 ** 20).toFixed(0),
        ]);
      });
    }
    const head = ['workload', 'processes', 'CPU ms: server', 'database', '× of one', 'rate/s', '× of one', 'MB each'];
    printColumns(head, lines, print);
    print('');
    print(
      `Target: two processes reach 1.7 × the rate of one on two free cores. This machine has ${cpus().length} cores, which the ` +
        'database and the load generator share: if CPU per operation stays flat, the rate would scale.',
    );
  } finally {
    for (const { latchkey } of contenders.slice(1)) await latchkey.stop();
  }
}
