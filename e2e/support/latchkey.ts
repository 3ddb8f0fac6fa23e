import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newDataFolder } from './data-folder.ts';
import { restoreBudgets } from './database.ts';

/** A real server with its own ports, data folder and embedded database. */
export interface Latchkey {
  baseUrl: string;
  /** Address of this process, if several share `baseUrl`. */
  ownUrl: string;
  /** Serves `/health/live`, `/health/ready` and `/metrics`. */
  managementUrl: string;
  /** Bearer token of an owner. */
  adminToken: string;
  dataDir: string;
  pid: number;
  /**
   * Moves the server's clock forward; requires `adjustable`. Browsers and authenticator apps have their own: {@link now}.
   */
  turn(seconds: number): Promise<void>;
  /** The server's clock in milliseconds since 1970. */
  now(): number;
  /** Output so far. */
  output(): string;
  /** Graceful stop (SIGTERM); resolves to the exit code. Removes the data folder unless `DATA_DIR` was given. */
  stop(): Promise<number | null>;
  /** SIGKILL to the server. Its database keeps running, for the next server on that `DATA_DIR`. */
  kill(): Promise<void>;
}

export interface StartOptions {
  /** The test may move the server's clock. */
  adjustable?: boolean;
  /** Seconds by which the clock is ahead at the start; requires `adjustable`. */
  aheadSeconds?: number;
  /** Program of another release. */
  main?: string;
  /** File descriptor of a socket to hand to the server, as systemd does. */
  socket?: number;
}

const builtMain = fileURLToPath(new URL('../../server/dist/main.js', import.meta.url));
const clock = new URL('adjustable-clock.mjs', import.meta.url).href;
const READY_WITHIN_MS = 180_000;

/**
 * Starts the built server and waits until it is ready. `env` overrides the defaults; pass `DATA_DIR` (and `PORT`, to
 * keep the URL) to restart on existing data. A module preloaded by the test makes the clock `adjustable`: the product has
 * no such feature.
 */
export async function startLatchkey(
  env: Record<string, string> = {},
  { adjustable = false, aheadSeconds = 0, main = builtMain, socket }: StartOptions = {},
): Promise<Latchkey> {
  const dataDir = env['DATA_DIR'] ?? newDataFolder({ empty: env['DATABASE_URL'] !== undefined });
  const isOurs = env['DATA_DIR'] === undefined;
  const port = env['PORT'] ?? String(await freePort());
  const managementPort = env['MANAGEMENT_PORT'] ?? String(await freePort(Number(port)));
  const settings = {
    ...inherited(),
    BASE_URL: `http://localhost:${port}`,
    PORT: port,
    MANAGEMENT_PORT: managementPort,
    DATA_DIR: dataDir,
    DATABASE_ROW_SECURITY: 'true',
    BOOTSTRAP_ADMIN_TOKEN: randomBytes(24).toString('hex'),
    DANGER_ALLOW_PRIVATE_LOGOUT_TARGETS: 'true',
    ...env,
  };
  // Flags of start.mjs.
  const flags = ['--max-semi-space-size=4', '--heap-growing-percent=40'];
  const preload = adjustable ? ['--import', `${clock}?ahead=${aheadSeconds}`] : [];
  const command = [process.execPath, ...flags, ...preload, main];
  // `exec` keeps the process ID.
  if (socket !== undefined) command.unshift('/bin/sh', '-c', 'LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" "$@"');
  const server = spawn(command[0] as string, command.slice(1), {
    env: settings,
    stdio: ['ignore', 'pipe', 'pipe', ...(adjustable ? ['ipc' as const] : socket === undefined ? [] : [socket])],
  });
  server.channel?.unref();
  let turnedSeconds = aheadSeconds;
  const cleaner = isOurs ? cleanUpAfter(server, dataDir) : undefined;
  let output = '';
  for (const stream of [server.stdout, server.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const latchkey: Latchkey = {
    baseUrl: settings.BASE_URL,
    ownUrl: `http://localhost:${port}`,
    managementUrl: `http://127.0.0.1:${managementPort}`,
    adminToken: settings.BOOTSTRAP_ADMIN_TOKEN,
    dataDir,
    pid: server.pid ?? 0,
    output: () => output,
    async turn(seconds) {
      const turned = once(server, 'message');
      server.send({ turnSeconds: seconds });
      await turned;
      turnedSeconds += seconds;
    },
    now: () => Date.now() + turnedSeconds * 1000,
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

let shared: Promise<Latchkey> | undefined;

/**
 * The server that the spec files of a Playwright worker share; it ends with the worker. Its tests change only their own
 * projects, and not the instance. It sends at most 30 codes an hour to one network, so only console visits use it.
 */
export function sharedLatchkey(): Promise<Latchkey> {
  shared ??= startLatchkey();
  return shared;
}

let adjustable: Promise<Latchkey> | undefined;

/** Less than the largest leeway of @latchkey/node, an hour. */
const MOST_SECONDS_AHEAD = 1800;

/**
 * An adjustable server that the spec files of a Playwright worker share, one after the other, each with all codes of an
 * hour. A new one replaces it once its clock is too far ahead. Not for specs whose application checks tokens by the clock of
 * this machine without a leeway.
 */
export async function sharedAdjustableLatchkey(): Promise<Latchkey> {
  const known = await adjustable;
  if (known !== undefined && known.now() - Date.now() < MOST_SECONDS_AHEAD * 1000) {
    await restoreBudgets(known);
    return known;
  }
  await known?.stop();
  adjustable = startLatchkey({}, { adjustable: true });
  return adjustable;
}

/** The environment of each program: PATH, and the cache of compiled modules. */
function inherited(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) };
}

/** Runs an operator's command. Throws if it fails. @returns its output */
export function runLatchkey(env: Record<string, string>, ...args: string[]): Promise<string> {
  return runProgram(builtMain, env, ...args);
}

/** {@link runLatchkey} with the program of another release. */
export async function runProgram(main: string, env: Record<string, string>, ...args: string[]): Promise<string> {
  const { output, errors, code } = await ran(main, env, args);
  if (code !== 0) throw new Error(`${args[0]} exited with ${code}: ${errors}`);
  return output;
}

/** Checks of `latchkey doctor`, which exits with 1 if one fails. */
export async function runDoctor(
  env: Record<string, string>,
): Promise<{ checks: { name: string; level: string; summary: string }[] }> {
  const { output, errors } = await ran(builtMain, env, ['doctor', '--json']);
  if (output === '') throw new Error(`doctor printed nothing: ${errors}`);
  return JSON.parse(output);
}

async function ran(main: string, env: Record<string, string>, args: readonly string[]) {
  const command = spawn(process.execPath, [main, ...args], {
    env: { ...inherited(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, errors] = ['', ''];
  command.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  command.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const [code] = (await once(command, 'close')) as [number | null];
  return { output, errors, code };
}

/**
 * A free port below 32768, where systems begin to assign ports to outgoing connections, so that none takes it before
 * the server listens.
 *
 * @param except another port of the same server
 */
export async function freePort(except?: number): Promise<number> {
  for (;;) {
    // Browsers block port 10080.
    const port = randomInt(11_000, 32_768);
    if (port === except) continue;
    // Probe all addresses, as servers listen on all.
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

/** Stops the database after `kill`. */
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

/** When the test run ends in any way, the pipe closes, and server and database stop. */
function cleanUpAfter(server: ChildProcess, dataDir: string): ChildProcess {
  const script = `cat; kill -KILL "$1"; pid=$(head -n 1 "$2/postgres/postmaster.pid")
    kill -QUIT "$pid"; while kill -0 "$pid"; do sleep 0.1; done; rm -rf "$2"`;
  const cleaner = spawn('/bin/sh', ['-c', script, 'sh', String(server.pid), dataDir], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  cleaner.unref();
  return cleaner;
}
