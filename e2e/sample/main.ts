/**
 * `npm run sample`: a relying party with its own Latchkey, on http://localhost:4000. Starts the server on the embedded
 * database, registers a client in the demo project, and stores it in the data folder.
 */
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { sampleApp } from './app.ts';
import { dataDir, origin, ownLatchkey, port } from './own-latchkey.ts';
import { type AdminCall, demoProject, registerSample, type Settings } from './relying-party.ts';

const { baseUrl, admin } = await ownLatchkey();
const settings = await remembered(admin);
const sample = createServer(sampleApp(settings, origin)).listen(Number(port), 'localhost');
await once(sample, 'listening');
console.log(`\nThe sample relying party is at ${origin}. Codes are in the dev mailbox: open the setup link above.`);

/** The client of an earlier run, if it still exists; else a new one. */
async function remembered(call: AdminCall): Promise<Settings> {
  const path = join(dataDir, 'sample.json');
  if (existsSync(path)) {
    const known = JSON.parse(readFileSync(path, 'utf8')) as { origin: string; settings: Settings };
    const shown = await call('query ($id: ID!) { client(id: $id) { id } }', { id: known.settings.clientId }).catch(
      () => null,
    );
    // Clients of earlier releases of the sample have no session secret, and a different logout address.
    const isCurrent = known.origin === origin && known.settings.baseUrl === baseUrl && known.settings.sessionSecret;
    if (shown && isCurrent) return known.settings;
  }
  const made = await registerSample(call, { baseUrl, origin, projectId: await demoProject(call) });
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(path, JSON.stringify({ origin, settings: made }), { mode: 0o600 });
  return made;
}
