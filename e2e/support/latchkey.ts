import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A real server of its own: own ports, own data folder, own embedded database. */
export interface Latchkey {
  baseUrl: string;
  /** Of `/health/live`, `/health/ready` and `/metrics`. */
  managementUrl: string;
  /** The bearer token of an owner. */
  adminToken: string;
  dataDir: string;
  pid: number;
  /** Turns its clock forward, where it was started `turnable`. Browsers and authenticator apps have their own: {@link now}. */
  turn(seconds: number): Promise<void>;
  /** What its clock says, in milliseconds since 1970. */
  now(): number;
  /** What it has printed so far. */
  output(): string;
  /** In order, as on SIGTERM; gives the exit code. Removes the data folder unless `DATA_DIR` was given. */
  stop(): Promise<number | null>;
  /** As a power cut: SIGKILL to the server. Its database lives on, for the next server on that `DATA_DIR`. */
  kill(): Promise<void>;
}

const main = fileURLToPath(new URL('../../server/dist/main.js', import.meta.url));
const clock = fileURLToPath(new URL('turnable-clock.mjs', import.meta.url));
const READY_WITHIN_MS = 60_000;

/**
 * Starts the built server and waits until it serves. `env` overrides what is set here; give `DATA_DIR` (and `PORT`,
 * where addresses must stay the same) to start again on the data of an earlier one. A `turnable` clock is the test's doing,
 * by a module that is loaded before the server: the product has no such door.
 */
export async function startLatchkey(
  env: Record<string, string> = {},
  { turnable = false }: { turnable?: boolean } = {},
): Promise<Latchkey> {
  const dataDir = env['DATA_DIR'] ?? mkdtempSync(join(tmpdir(), 'latchkey-e2e-'));
  const isOurs = env['DATA_DIR'] === undefined;
  const port = env['PORT'] ?? String(await freePort());
  const managementPort = env['MANAGEMENT_PORT'] ?? String(await freePort());
  const settings = {
    PATH: process.env['PATH'] ?? '',
    BASE_URL: `http://localhost:${port}`,
    PORT: port,
    MANAGEMENT_PORT: managementPort,
    DATA_DIR: dataDir,
    BOOTSTRAP_ADMIN_TOKEN: randomBytes(24).toString('hex'),
    DANGER_ALLOW_PRIVATE_LOGOUT_TARGETS: 'true',
    ...env,
  };
  // As start.mjs starts it.
  const flags = ['--enable-source-maps', '--max-semi-space-size=4', '--heap-growing-percent=60'];
  const server = spawn(process.execPath, [...flags, ...(turnable ? ['--import', clock] : []), main], {
    env: settings,
    stdio: ['ignore', 'pipe', 'pipe', ...(turnable ? ['ipc' as const] : [])],
  });
  server.channel?.unref();
  let aheadSeconds = 0;
  const cleaner = isOurs ? cleanUpAfter(server, dataDir) : undefined;
  let output = '';
  for (const stream of [server.stdout, server.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const latchkey: Latchkey = {
    baseUrl: settings.BASE_URL,
    managementUrl: `http://127.0.0.1:${managementPort}`,
    adminToken: settings.BOOTSTRAP_ADMIN_TOKEN,
    dataDir,
    pid: server.pid ?? 0,
    output: () => output,
    async turn(seconds) {
      const turned = once(server, 'message');
      server.send({ turnSeconds: seconds });
      await turned;
      aheadSeconds += seconds;
    },
    now: () => Date.now() + aheadSeconds * 1000,
    async stop() {
      await end(server, 'SIGTERM');
      if (isOurs) {
        await endDatabase(dataDir);
        cleaner?.kill();
        rmSync(dataDir, { recursive: true, force: true });
      }
      return server.exitCode;
    },
    kill: () => end(server, 'SIGKILL'),
  };
  await ready(latchkey, server);
  return latchkey;
}

/** What `doctor` says, with these settings. */
export async function examine(
  env: Record<string, string>,
): Promise<{ checks: { name: string; level: string; summary: string }[] }> {
  const settings = { PATH: process.env['PATH'] ?? '', ...env };
  const doctor = spawn(process.execPath, [main, 'doctor', '--json'], {
    env: settings,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [said, complaint] = ['', ''];
  doctor.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  doctor.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  await once(doctor, 'close');
  if (said === '') throw new Error(`doctor said nothing: ${complaint}`);
  return JSON.parse(said);
}

/**
 * A port that was free a moment ago, and that no outgoing connection is given meanwhile: systems take those from 32768
 * upwards, and a busy machine makes thousands of them until the server listens.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    // Browsers refuse 10080.
    const port = randomInt(11_000, 32_768);
    // As servers listen: on every address.
    const probe = createServer().listen(port);
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('listening', () => resolve(true)).once('error', () => resolve(false));
    });
    if (!isFree) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
}

async function ready(latchkey: Latchkey, server: ChildProcess): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (server.exitCode === null && server.signalCode === null && Date.now() < deadline) {
    const answer = await fetch(`${latchkey.managementUrl}/health/ready`).catch(() => undefined);
    if (answer?.ok || latchkey.output().includes('Latchkey is ready.')) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  await latchkey.stop();
  throw new Error(`Latchkey did not start:\n${latchkey.output()}`);
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

/** After `kill` nobody else stops it. */
async function endDatabase(dataDir: string): Promise<void> {
  const pid = databasePid(dataDir);
  if (pid === undefined) return;
  process.kill(pid, 'SIGINT');
  while (databasePid(dataDir) !== undefined) await new Promise((resolve) => setTimeout(resolve, 25));
}

function databasePid(dataDir: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined;
  }
}

/** However the test run ends, its end of the pipe is closed, and then neither server nor database stay behind. */
function cleanUpAfter(server: ChildProcess, dataDir: string): ChildProcess {
  const script = 'cat; kill -KILL "$1"; kill -QUIT "$(head -n 1 "$2/postgres/postmaster.pid")"; rm -rf "$2"';
  const cleaner = spawn('/bin/sh', ['-c', script, 'sh', String(server.pid), dataDir], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  cleaner.unref();
  return cleaner;
}
