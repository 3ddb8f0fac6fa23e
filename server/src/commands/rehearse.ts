import { mkdirSync, mkdtempSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { removeDataFolder } from '../adapters/embedded/cluster.ts';
import { existingMasterKeysOf } from '../adapters/files/master-key.ts';
import { type RehearsedMigration, rehearseMigrations, sampleMs } from '../adapters/postgres/rehearsal.ts';
import type { Config } from '../config.ts';
import { Secret } from '../domain/kernel/secret.ts';
import { givenMasterKeys, openConfigured, StartError } from '../instance.ts';
import type { Command, CommandContext } from './command.ts';
import { restoreFile } from './restore.ts';

/** A write waits this long at most (server/docs/migrations.md). */
const longestLockMs = 100;

export const rehearse: Command = {
  name: 'rehearse',
  summary: 'Runs the pending migrations on a copy made from a backup, and reports time, locks and space.',
  operands: ['<file>'],
  options: {
    database: {
      type: 'string',
      value: 'url',
      description: 'an empty database for the copy. Default: an embedded one in DATA_DIR, removed afterwards',
    },
  },
  notes: [
    'Run it with the new release before you start that. Needs the master key of the backup. Sends nothing and does not',
    `touch the database of the server. Locks are sampled every ${sampleMs} ms. The exit code is 1 if a migration fails,`,
    `or held a lock that writes wait for longer than ${longestLockMs} ms.`,
  ],
  run: async (input, context) => {
    const config = context.config();
    const keys = givenMasterKeys(config) ?? existingMasterKeysOf(resolve(config.DATA_DIR));
    if (!keys) throw new StartError('The master key of the backup is required: set MASTER_KEY.');
    const url = input.text('database');
    const interrupted = context.interrupted();
    const folder = url === undefined ? folderIn(resolve(config.DATA_DIR)) : undefined;
    const copy: Config = {
      ...config,
      DATABASE_URL: url === undefined ? undefined : new Secret(url),
      DATA_DIR: folder ?? config.DATA_DIR,
      MASTER_KEY: new Secret(new Uint8Array(keys.first)),
      MASTER_KEY_SECOND: keys.second && new Secret(new Uint8Array(keys.second)),
    };
    try {
      await restoreFile(input.operands[0] as string, { ...context, config: () => copy }, { laterMigrations: false });
      return await measure(copy, context, interrupted);
    } finally {
      if (folder !== undefined) removeDataFolder(folder);
    }
  },
};

function folderIn(dataDir: string): string {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    return mkdtempSync(join(dataDir, 'rehearsal-'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(
      `${dataDir} cannot hold the copy (${code}): set DATA_DIR to another folder, or name an empty database by --database.`,
    );
  }
}

async function measure(copy: Config, { print, log }: CommandContext, interrupted: AbortSignal): Promise<number> {
  const database = await openConfigured(copy, true, (line) => log(`· ${line}`));
  const all: RehearsedMigration[] = [];
  try {
    interrupted.throwIfAborted();
    for await (const one of rehearseMigrations(database.url)) {
      all.push(one);
      print(lineOf(one));
      interrupted.throwIfAborted();
    }
  } finally {
    await database.embedded?.stop();
  }
  if (all.length === 0) {
    print('No migrations are pending: the backup has the schema of this release.');
    return 0;
  }
  const sum = (of: (one: RehearsedMigration) => number) => all.reduce((total, one) => total + of(one), 0);
  const long = all.filter(({ locks }) => (locks[0]?.milliseconds ?? 0) > longestLockMs);
  print(
    `${all.length} ${all.length === 1 ? 'migration' : 'migrations'}: ${seconds(sum((one) => one.milliseconds))}, ${megabytes(sum((one) => one.bytes))}`,
  );
  if (long.length > 0)
    print(`Writes would wait longer than ${longestLockMs} ms: ${long.map(({ name }) => name).join(', ')}`);
  return long.length > 0 ? 1 : 0;
}

function lineOf({ name, milliseconds, bytes, locks: [longest] }: RehearsedMigration): string {
  const lock = longest ? `${longest.table} locked for ${Math.round(longest.milliseconds)} ms` : 'no lock seen';
  return `${name}: ${seconds(milliseconds)}, ${megabytes(bytes)}, ${lock}`;
}

const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`;
const megabytes = (bytes: number) => `${bytes < 0 ? '' : '+'}${(bytes / 1e6).toFixed(1)} MB`;
