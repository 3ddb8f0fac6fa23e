import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';
import { median } from './harness/measure.ts';
import { cpuMilliseconds, residentBytes } from './harness/process.ts';
import { type Print, printColumns, progress } from './harness/table.ts';
import type { Options } from './options.ts';
import { bareCloneMilliseconds } from './subjects/bare-clone.ts';
import { databaseUrl, postmasterPid } from './subjects/latchkey.ts';
import { type Peer, startPeer } from './subjects/peer.ts';

const mostWarmMilliseconds = 2000;
const mostIdleMegabytes = 250;

interface Starts {
  name: string;
  /** Milliseconds to readiness, first on an empty database, then again. */
  cold: number;
  warm: number;
  /** RSS while idle. */
  megabytes: number;
  /** CPU milliseconds per second while idle. */
  serverCpu: number;
  databaseCpu?: number;
}

/** Time to readiness, with and without data; idle cost; a bare clone. */
export async function start(print: Print, options: Options): Promise<void> {
  const { quick, plan } = options;
  const times = quick ? 1 : plan.rounds;
  const idleMilliseconds = quick ? 500 : 5000;
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-bench-'));
  const all: Starts[] = [];
  let server: Latchkey | undefined;
  try {
    const begin = async () => {
      server = await startLatchkey({ DATA_DIR: dataDir, LOG_LEVEL: 'warn' });
      return server;
    };
    progress('start: Latchkey');
    const cold = await timed(begin);
    const warm: number[] = [];
    for (let round = 0; round < times; round += 1) {
      await server?.stop();
      warm.push(await timed(begin));
    }
    const own = server as Latchkey;
    const idle = await idleFigures([own.pid], idleMilliseconds, postmasterPid(own.dataDir));
    all.push({ name: 'Latchkey', cold, warm: median(warm), ...idle });
    for (const name of ['oidc-provider', 'better-auth', 'saml-jackson']) {
      if (!options.peersNamed(name)) continue;
      progress(`start: ${name}`);
      const database = { url: databaseUrl(own), pid: postmasterPid(own.dataDir) };
      all.push(await startsOf(name, name === 'oidc-provider' ? undefined : database, times, idleMilliseconds));
    }
  } finally {
    await server?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  printStarts(all, print);
  if (quick || options.only !== undefined) return;
  progress('start: a bare clone');
  print(`- \`npm start\` in a bare clone, npm's cache warm: ready after ${seconds(await bareCloneMilliseconds())}`);
}

async function startsOf(
  name: string,
  database: { url: string; pid: number } | undefined,
  times: number,
  idleMilliseconds: number,
): Promise<Starts> {
  let peer: Peer | undefined;
  const milliseconds: number[] = [];
  try {
    for (let round = 0; round <= times; round += 1) {
      await peer?.stop();
      peer = await startPeer(name, 1, database, { POPULATION: '0' });
      milliseconds.push(peer.startMilliseconds);
    }
    const { name: named, serverPids } = (peer as Peer).subject;
    const [cold = Number.NaN, ...warm] = milliseconds;
    return { name: named, cold, warm: median(warm), ...(await idleFigures(serverPids, idleMilliseconds)) };
  } finally {
    await peer?.stop();
  }
}

function printStarts(all: readonly Starts[], print: Print): void {
  const line = (what: string, cell: (starts: Starts) => string) => [what, ...all.map(cell)];
  const lines = [
    line('start to ready, empty', ({ cold }) => `${cold.toFixed(0)} ms`),
    line('start to ready, with data (median)', ({ warm }) => `${warm.toFixed(0)} ms`),
    line('idle memory', ({ megabytes }) => `${megabytes.toFixed(0)} MB`),
    line('idle CPU per second', ({ serverCpu }) => `${serverCpu.toFixed(1)} ms`),
    line('idle CPU of the database', ({ databaseCpu }) =>
      databaseCpu === undefined ? '' : `${databaseCpu.toFixed(1)} ms`,
    ),
  ];
  printColumns(['what', ...all.map(({ name }) => name)], lines, print);
  print('');
  const own = all[0];
  if (!own) return;
  print(`- ${own.warm <= mostWarmMilliseconds ? '✓' : '✗'} ready warm within ${mostWarmMilliseconds} ms`);
  print(`- ${own.megabytes <= mostIdleMegabytes ? '✓' : '✗'} idle below ${mostIdleMegabytes} MB`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

/** Idle cost, which is part of every low-rate workload. */
async function idleFigures(pids: number[], forMilliseconds: number, databasePid?: number) {
  const database = databasePid === undefined ? [] : [databasePid];
  const cpu = () => {
    const ofDatabase = cpuMilliseconds(database);
    return { ofDatabase, ofServer: cpuMilliseconds([...pids, ...database]) - ofDatabase };
  };
  const before = cpu();
  await new Promise((resolve) => setTimeout(resolve, forMilliseconds));
  const after = cpu();
  const perSecond = 1000 / forMilliseconds;
  return {
    megabytes: residentBytes(pids) / 2 ** 20,
    serverCpu: (after.ofServer - before.ofServer) * perSecond,
    ...(databasePid !== undefined && { databaseCpu: (after.ofDatabase - before.ofDatabase) * perSecond }),
  };
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(0)} s`;
}
