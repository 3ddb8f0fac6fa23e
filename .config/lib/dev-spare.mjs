/** Preloaded into the next server: loads its packages before the edit, and its sources after. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

const exit = () => process.exit();
process.once('disconnect', exit);
const { dependencies } = JSON.parse(readFileSync('server/package.json', 'utf8'));
const packages = Object.keys(dependencies).filter((name) => !name.startsWith('@latchkey/'));
const started = once(process, 'message');
for (const name of packages) await import(name).catch(() => undefined);
await started;
process.off('disconnect', exit);
process.disconnect();
