import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Latchkey, startLatchkey } from './latchkey.ts';

/**
 * A second process on the first one's database: same issuer and master key, another port, as behind a proxy. Reachable
 * at `url`.
 */
export async function startSibling(first: Latchkey, port: number): Promise<{ process: Latchkey; url: string }> {
  const postmaster = readFileSync(join(first.dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
  const [databasePort, socketFolder] = [postmaster[3] ?? '', postmaster[4] ?? ''];
  const password = readFileSync(join(first.dataDir, 'postgres.password'), 'utf8').trim();
  const process = await startLatchkey({
    BASE_URL: first.baseUrl,
    PORT: String(port),
    DATABASE_URL: `postgresql://latchkey:${password}@${encodeURIComponent(socketFolder)}:${databasePort}/latchkey`,
    MASTER_KEY: readFileSync(join(first.dataDir, 'master.key'), 'utf8').trim(),
  });
  return { process, url: `http://localhost:${port}` };
}
