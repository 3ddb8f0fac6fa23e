import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Runtime } from '../../domain/instance/processes.ts';
import { migrations } from '../../migrations/index.ts';
import { packageFolder } from './package-folder.ts';
import { measureSigning } from './signing-speed.ts';

/** The version of this release. */
export function releaseVersion(): string {
  const text = readFileSync(join(packageFolder, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** Facts that this process publishes about itself. */
export async function runtimeOf(): Promise<Runtime> {
  return {
    host: hostname(),
    pid: process.pid,
    version: releaseVersion(),
    nodeVersion: process.versions.node,
    signMicroseconds: await measureSigning(),
    migrations: migrations.map(({ name }) => name),
  };
}
