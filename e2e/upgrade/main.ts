/**
 * `node e2e/upgrade/main.ts 2026-11-29`: makes the filled database of a release, from its commit. Each release gets one,
 * which is never created again: a test reads the rows that it wrote.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { buildRelease } from '../chaos/support/release.ts';
import { World } from '../chaos/support/world.ts';
import { fill } from './fill.ts';
import { backupOf, credentialsOf, type Fixture } from './fixture.ts';
import { releases } from './releases.ts';

const release = releases.find(({ name }) => name === process.argv[2]);
if (!release) throw new Error(`Name a release: ${releases.map(({ name }) => name).join(', ')}`);
const built = await buildRelease(release);
if (typeof built === 'string') throw new Error(built);
const world = await World.create();
try {
  await world.start({}, { main: built.main });
  const filled = await fill(world);
  mkdirSync(dirname(backupOf(release.name)), { recursive: true });
  await world.runProgram(built.main, 'backup', '--to', backupOf(release.name));
  const fixture: Fixture = { baseUrl: world.issuer, masterKey: world.settings['MASTER_KEY'] as string, ...filled };
  writeFileSync(credentialsOf(release.name), `${JSON.stringify(fixture, null, 2)}\n`);
} finally {
  await world.close();
  built.remove();
}
