import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';
import { median } from './harness/measure.ts';
import { cpuMilliseconds, residentBytes } from './harness/process.ts';
import { type Print, printColumns } from './harness/table.ts';
import type { Options } from './options.ts';
import { postmasterPid } from './subjects/latchkey.ts';

const mostWarmMilliseconds = 2000;
const mostIdleMegabytes = 250;

/** From the start of the process to readiness, on an empty folder and on one with data; what it costs to do nothing. */
export async function start(print: Print, { quick, plan }: Options): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-bench-'));
  try {
    const [cold, first] = await timed(dataDir);
    await first.stop();
    const warm: number[] = [];
    let last: Latchkey | undefined;
    for (let round = 0; round < (quick ? 1 : plan.rounds); round += 1) {
      await last?.stop();
      const [took, server] = await timed(dataDir);
      warm.push(took);
      last = server;
    }
    if (!last) return;
    const idle = await idleFigures(last, quick ? 500 : 5000);
    await last.stop();
    const lines = [
      ['start to ready, empty folder', `${cold.toFixed(0)} ms`],
      ['start to ready, with data (median)', `${median(warm).toFixed(0)} ms`],
      ['memory of the server, idle', `${idle.megabytes.toFixed(0)} MB`],
      ['CPU idle, server', `${idle.server.toFixed(1)} ms a second`],
      ['CPU idle, database', `${idle.database.toFixed(1)} ms a second`],
    ];
    printColumns(['what', 'Latchkey'], lines, print);
    print('');
    print(`- ${median(warm) <= mostWarmMilliseconds ? '✓' : '✗'} ready warm within ${mostWarmMilliseconds} ms`);
    print(`- ${idle.megabytes <= mostIdleMegabytes ? '✓' : '✗'} idle below ${mostIdleMegabytes} MB`);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function timed(dataDir: string): Promise<[milliseconds: number, server: Latchkey]> {
  const begin = performance.now();
  const server = await startLatchkey({ DATA_DIR: dataDir, LOG_LEVEL: 'warn' });
  return [performance.now() - begin, server];
}

/** What the machine is asked for while nobody asks anything; a work of few operations a second carries it too. */
async function idleFigures(server: Latchkey, forMilliseconds: number) {
  const database = [postmasterPid(server.dataDir)];
  const cpu = () => {
    const ofDatabase = cpuMilliseconds(database);
    return { ofDatabase, ofServer: cpuMilliseconds([server.pid, ...database]) - ofDatabase };
  };
  const before = cpu();
  await new Promise((resolve) => setTimeout(resolve, forMilliseconds));
  const after = cpu();
  const perSecond = 1000 / forMilliseconds;
  return {
    server: (after.ofServer - before.ofServer) * perSecond,
    database: (after.ofDatabase - before.ofDatabase) * perSecond,
    megabytes: residentBytes([server.pid]) / 2 ** 20,
  };
}
