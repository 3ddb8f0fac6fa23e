import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AdminApi } from '../../support/admin-api.ts';
import { freePort, type Latchkey, startLatchkey } from '../../support/latchkey.ts';
import type { Subject } from '../harness/measure.ts';

/**
 * Latchkey as shipped: production build, own PostgreSQL with fsync on, all limits and checks; except that one address,
 * the load generator's, may start more sign-ins.
 */
export interface BenchedLatchkey {
  server: Latchkey;
  api: AdminApi;
  subject: Subject;
  /** Milliseconds from process start to readiness. */
  startMilliseconds: number;
  /** A database for peers in the same PostgreSQL. */
  peersDatabase(): { url: string; pid: number };
  stop(): Promise<void>;
}

/** @param processes number of processes on one database @param extra environment */
export async function benchedLatchkey(processes = 1, extra: Record<string, string> = {}): Promise<BenchedLatchkey> {
  const begin = performance.now();
  // For example `--cpu-prof --cpu-prof-dir=…`; the profile is written when the server stops.
  const nodeOptions = process.env['BENCH_NODE_OPTIONS'];
  const env = {
    LOG_LEVEL: 'warn',
    // `true` measures the cost of row-level security.
    DATABASE_ROW_SECURITY: process.env['BENCH_ROW_SECURITY'] ?? 'false',
    SIGNIN_CHALLENGES_PER_MINUTE: '1000000',
    AUTHORIZE_REQUESTS_PER_MINUTE: '1000000',
    ...(nodeOptions && { NODE_OPTIONS: nodeOptions }),
    ...extra,
  };
  const server = await startLatchkey(env);
  const startMilliseconds = performance.now() - begin;
  const siblings: Latchkey[] = [];
  const urls = [server.baseUrl];
  for (let more = 1; more < processes; more += 1) {
    const port = String(await freePort());
    const database = { DATABASE_URL: databaseUrl(server), MASTER_KEY: masterKey(server) };
    siblings.push(await startLatchkey({ ...env, ...database, BASE_URL: server.baseUrl, PORT: port }));
    urls.push(`http://localhost:${port}`);
  }
  return {
    server,
    api: new AdminApi(server.baseUrl, server.adminToken),
    subject: {
      name: processes === 1 ? 'Latchkey' : `Latchkey × ${processes}`,
      urls,
      serverPids: [server, ...siblings].map(({ pid }) => pid),
      databasePid: postmasterPid(server.dataDir),
    },
    startMilliseconds,
    peersDatabase: () => ({ url: databaseUrl(server), pid: postmasterPid(server.dataDir) }),
    stop: async () => {
      for (const sibling of siblings) await sibling.stop();
      await server.stop();
    },
  };
}

/** URL of a server's database for other programs. */
export function databaseUrl({ dataDir }: Latchkey): string {
  const postmaster = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
  const [port, socketFolder] = [postmaster[3] ?? '', postmaster[4] ?? ''];
  const password = readFileSync(join(dataDir, 'postgres.password'), 'utf8').trim();
  return `postgresql://latchkey:${password}@${encodeURIComponent(socketFolder)}:${port}/latchkey`;
}

function masterKey({ dataDir }: Latchkey): string {
  return readFileSync(join(dataDir, 'master.key'), 'utf8').trim();
}

/** Postmaster of a server's embedded database. */
export function postmasterPid(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
}
