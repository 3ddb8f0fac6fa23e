import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../../support/latchkey.ts';
import type { Subject } from '../harness/measure.ts';

/** JSON line that a peer's script prints when ready. */
interface Ready {
  version: string;
  issuer: string;
  authorizePath: string;
  tokenPath: string;
  userInfoPath: string;
  userInfoToken?: string;
  /** One live session per worker. */
  cookies: string[];
  clients: {
    public?: PeerClient;
    confidential?: PeerClient;
  };
  /** SCIM path and bearer token. */
  scim?: { path: string; token: string };
}

interface PeerClient {
  clientId: string;
  redirectUri: string;
  privateJwk?: Record<string, string>;
  resource?: string;
}

export interface Peer extends Ready {
  subject: Subject;
  startMilliseconds: number;
  stop(): Promise<void>;
}

const folder = join(import.meta.dirname, '../peers');

/** Starts `peers/<name>.mjs` in its own process. @param database for peers that need one */
export async function startPeer(
  name: string,
  workers: number,
  database?: { url: string; pid: number },
  env: Record<string, string> = {},
): Promise<Peer> {
  const port = await freePort();
  const begin = performance.now();
  const child = spawn(process.execPath, [join(folder, `${name}.mjs`)], {
    env: {
      PATH: process.env['PATH'] ?? '',
      NODE_ENV: 'production',
      PORT: String(port),
      WORKERS: String(workers),
      ...(database && { DATABASE_URL: database.url }),
      ...env,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ready = await firstJson(child, name);
  return {
    ...ready,
    subject: {
      name: `${name} ${ready.version}`,
      urls: [`http://localhost:${port}`],
      serverPids: [child.pid ?? 0],
      databasePid: database?.pid,
    },
    startMilliseconds: performance.now() - begin,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function firstJson(child: ChildProcess, name: string): Promise<Ready> {
  if (child.stdout) {
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith('{"version"')) return JSON.parse(line) as Ready;
    }
  }
  throw new Error(`${name} did not start`);
}
