import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { installedMajorVersion } from '../adapters/embedded/binaries.ts';
import { upgradeFolder, versionOf } from '../adapters/embedded/cluster.ts';
import { installEarlier } from '../adapters/embedded/earlier.ts';
import { existingMasterKeysOf } from '../adapters/files/master-key.ts';
import type { Config } from '../config.ts';
import { Secret } from '../domain/kernel/secret.ts';
import { givenMasterKeys, StartError } from '../instance.ts';
import { backUp, withBackupParts } from './backup.ts';
import { type Command, type CommandContext } from './command.ts';
import { mustHaveDatabase } from './opened.ts';
import { restoreFile } from './restore.ts';

export const upgradeDatabase: Command = {
  name: 'database:upgrade',
  summary: 'Moves the embedded database to the PostgreSQL of this release. Stop the server first.',
  notes: [
    'Fetches the earlier PostgreSQL with npm, writes a backup to DATA_DIR/backups, restores it into a new database, and',
    'keeps the earlier one. If it fails or is interrupted, the earlier database is unchanged: run it again.',
  ],
  run: async (_input, context) => {
    const config = context.config();
    if (config.DATABASE_URL !== undefined) {
      throw new StartError('DATABASE_URL is set: only the embedded database can be upgraded by this command.');
    }
    const dataDir = resolve(config.DATA_DIR);
    const [present, next] = [join(dataDir, 'postgres'), upgradeFolder(dataDir)];
    const isHalfMoved = !existsSync(present) && existsSync(join(next, 'postgres'));
    if (!isHalfMoved) {
      const version = versionOf(join(resolve(mustHaveDatabase(config).DATA_DIR), 'postgres'));
      if (version === installedMajorVersion()) {
        context.print(`The database already uses PostgreSQL ${version}.`);
        return 0;
      }
      const kept = join(dataDir, `postgres-${version}`);
      if (existsSync(kept)) throw new StartError(`${kept} exists, from an earlier upgrade: move it elsewhere.`);
      await copy(version, dataDir, config, context);
      renameSync(present, kept);
      context.print(`Kept the earlier database as ${kept}.`);
    }
    renameSync(join(next, 'postgres'), present);
    removeEmptied(next);
    context.print(`The database now uses PostgreSQL ${installedMajorVersion()}. Start the server.`);
    return 0;
  },
};

/** Restores a backup of the current database into a new one. */
async function copy(version: string, dataDir: string, config: Config, context: CommandContext): Promise<void> {
  const { log } = context;
  const next = upgradeFolder(dataDir);
  const keys = givenMasterKeys(config) ?? existingMasterKeysOf(dataDir);
  if (!keys) throw new StartError(`${join(dataDir, 'master.key')} is missing: restore the file, or set MASTER_KEY.`);
  log(`· Fetching PostgreSQL ${version} with npm`);
  const folder = mkdtempSync(join(dataDir, `postgresql-${version}-`));
  let file: string;
  try {
    const programs = await installEarlier(version, folder);
    const options = { exclusive: 'alone', programs } as const;
    file = await withBackupParts(context, (parts) => backUp(parts, undefined, context), options);
  } finally {
    rmSync(folder, { recursive: true });
  }
  const isRoot = process.getuid?.() === 0;
  mkdirSync(next, { recursive: true });
  // Like the data folder itself: PostgreSQL's user must reach its own folder.
  chmodSync(next, isRoot ? 0o711 : 0o700);
  copyFileSync(join(dataDir, 'postgres.password'), join(next, 'postgres.password'));
  const moved: Config = {
    ...config,
    DATA_DIR: next,
    MASTER_KEY: new Secret(new Uint8Array(keys.first)),
    MASTER_KEY_SECOND: keys.second && new Secret(new Uint8Array(keys.second)),
  };
  await restoreFile(file, { ...context, config: () => moved }).catch((error: Error) => {
    throw new StartError(`${error.message} The earlier database is unchanged. Remove ${next} and try again.`, {
      cause: error,
    });
  });
}

/** Removes the files that the new cluster needed in its own data folder. */
function removeEmptied(folder: string): void {
  for (const name of ['postgres.password', 'postgres.log', 'postgres.log.1'])
    rmSync(join(folder, name), { force: true });
  // Its socket's folder belongs to PostgreSQL's user: root removes nothing within it.
  if (existsSync(join(folder, 'postgres.run'))) rmdirSync(join(folder, 'postgres.run'));
  rmdirSync(folder);
}
