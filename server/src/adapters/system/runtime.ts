import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Runtime } from '../../domain/instance/processes.ts';
import { migrations } from '../../migrations/index.ts';
import { measureSigning } from './signing-speed.ts';

/** Facts that this process publishes about itself. */
export async function runtimeOf(): Promise<Runtime> {
  const text = readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8');
  return {
    host: hostname(),
    pid: process.pid,
    version: (JSON.parse(text) as { version: string }).version,
    nodeVersion: process.versions.node,
    signMicroseconds: await measureSigning(),
    migrations: migrations.map(({ name }) => name),
  };
}
