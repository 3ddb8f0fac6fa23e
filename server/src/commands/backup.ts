import { PassThrough } from 'node:stream';
import type { EntityManager } from '@mikro-orm/postgresql';
import { BackupWriter, backupFormat, backupVersion } from '../adapters/files/backup.ts';
import { migrationLock, withoutLimits } from '../adapters/postgres/database.ts';
import { appliedMigrations, rowsOf, tablesOf } from '../adapters/postgres/table-copy.ts';
import { randomOn, systemRandom } from '../adapters/system/random.ts';
import type { Config } from '../config.ts';
import { Audit } from '../domain/audit/audit.ts';
import { Backups, type FinishedBackup } from '../domain/instance/backups.ts';
import { Database } from '../domain/kernel/database.ts';
import { query, sql } from '../domain/kernel/sql.ts';
import { Vault } from '../domain/keys/vault.ts';
import { StartError } from '../instance.ts';
import { type BackupPlace, isBackupName, placeFor } from './backup-places.ts';
import { type Command, type CommandContext, UsageError } from './command.ts';
import { type OpenOptions, withDatabase } from './opened.ts';

/** The parts of an instance that a backup needs: all parts of a server would cost more memory. */
interface BackupParts {
  config: Config;
  db: Database;
  vault: Vault;
  backups: Backups;
  now(): Date;
}

/** The first key of the advisory lock; the second is the hash of the place's lock. */
const draftLocks = 7_316_904;

export const backup: Command = {
  name: 'backup',
  summary: 'Writes a consistent snapshot of the database to one file. The server can keep running.',
  options: {
    to: {
      type: 'string',
      value: 'file or folder',
      description: 'destination, also s3://bucket/prefix/; - for stdout. Default: DATA_DIR/backups',
    },
    keep: {
      type: 'string',
      value: 'number',
      description: 'keep only this number of backups in the folder, the newest ones. Default: all',
    },
  },
  notes: [
    'Works with the embedded database and with DATABASE_URL, and needs no other program. Secrets stay encrypted: the file',
    'cannot be restored without the master key, which it does not contain. Names and addresses of users are in plain text.',
    'The job queue is not included: pending work is found again after a restore, or has expired.',
  ],
  run: (input, context) =>
    withBackupParts(context, async (opened) => {
      const target = input.text('to');
      const keep = countOf(input.text('keep'));
      if (target === '-' && keep !== undefined) throw new UsageError('--keep requires a folder, or an s3:// prefix');
      if (target !== '-') context.print(await backUp(opened, target, context, keep));
      else await record(opened, await toStdout(opened, context), context);
      return 0;
    }),
};

/** Opens the parts for a backup while `work` runs. */
export function withBackupParts<T>(
  context: CommandContext,
  work: (parts: BackupParts) => Promise<T>,
  options: OpenOptions = {},
): Promise<T> {
  const { clock } = context;
  const random = randomOn(clock);
  return withDatabase(
    context,
    async ({ config, database, orm, now }) => {
      const db = new Database(orm);
      const { first, second } = database.masterKeys;
      const backups = new Backups({ db, clock, random, audit: new Audit({ clock, random }) });
      return work({ config, db, vault: new Vault(first, random, second), backups, now });
    },
    { ...options, migrate: false },
  );
}

/**
 * Writes a backup and records it.
 * @param target a file or folder, on disk or `s3://`; default: DATA_DIR/backups
 * @param keep number of backups to keep in that folder; undefined: all
 * @returns the path or URL of the backup
 */
export async function backUp(
  opened: BackupParts,
  target: string | undefined,
  context: CommandContext,
  keep?: number,
): Promise<string> {
  const { log } = context;
  const interrupted = context.interrupted();
  const place = await placeFor(target, { config: opened.config, now: opened.now(), interrupted, log });
  try {
    if (keep !== undefined && !place.folder) throw new UsageError('--keep requires a folder, or an s3:// prefix');
    await record(opened, await toPlace(opened, place, interrupted), context);
    if (keep !== undefined) await removeOldest(place, keep, log);
    return place.name;
  } finally {
    place.close();
  }
}

function countOf(keep: string | undefined): number | undefined {
  if (keep === undefined) return undefined;
  if (!/^[1-9]\d{0,4}$/.test(keep)) throw new UsageError('--keep must be a whole number from 1 to 99999');
  return Number(keep);
}

async function record({ db, backups }: BackupParts, made: FinishedBackup, { log }: CommandContext): Promise<void> {
  const [has] = await query(db.reader(), sql<{ table: boolean }>`select to_regclass('backups') is not null as table`);
  if (has?.table) await backups.record(made);
  log(`${made.rows} rows, ${made.bytes} bytes, as of ${made.takenAt.toISOString()}`);
}

function toStdout(opened: BackupParts, { stdout, interrupted }: CommandContext): Promise<FinishedBackup> {
  const through = new PassThrough();
  through.pipe(stdout, { end: false });
  return snapshot(opened, async (em) => ({
    file: 'stdout',
    ...(await write(em, opened, new BackupWriter(through), interrupted())),
  }));
}

/** Writes a backup, and publishes it once it is complete. */
function toPlace(opened: BackupParts, place: BackupPlace, interrupted: AbortSignal): Promise<FinishedBackup> {
  return snapshot(opened, async (em) => {
    const [lock] = await query(
      em,
      sql<{ taken: boolean }>`
        select pg_try_advisory_xact_lock(${draftLocks}, hashtext(${place.lock})) as taken`,
    );
    if (!lock?.taken) throw new StartError(`Another backup to ${place.name} is running.`);
    const unfinished = await place.open();
    try {
      const figures = await write(em, opened, new BackupWriter(unfinished.stream), interrupted);
      if (!(await unfinished.publish()))
        throw new UsageError(`${place.name} was written by another run: choose another file`);
      return { file: place.file, ...figures };
    } catch (error) {
      throw place.explain(error);
    } finally {
      await unfinished.close();
    }
  });
}

/** Removes our oldest backups, never the new one. A failure is a warning: the new backup is complete. */
async function removeOldest({ file, folder }: BackupPlace, keep: number, log: (line: string) => void): Promise<void> {
  const attempt = async (what: string, work: () => Promise<void>) =>
    work().catch((error: Error) => log(`Warning: ${what} not removed: ${error.message}`));
  await attempt('older backups were', async () => {
    const others = (await folder?.names())?.filter((name) => isBackupName(name) && name !== file) ?? [];
    for (const name of others
      .sort()
      .reverse()
      .slice(keep - 1)) {
      await attempt(`${name} was`, async () => {
        await folder?.remove(name);
        log(`Removed ${name}`);
      });
    }
  });
}

/** Runs `work` on one snapshot. Holds the migration lock, so that the schema cannot change. */
function snapshot<T>({ db }: BackupParts, work: (em: EntityManager) => Promise<T>): Promise<T> {
  return db.snapshot(async (em) => {
    await withoutLimits(em);
    // Do not wait for the lock: the first statement takes the snapshot, so the schema would be the old one.
    const [lock] = await query(
      em,
      sql<{ taken: boolean }>`select pg_try_advisory_xact_lock_shared(${migrationLock}) as taken`,
    );
    if (!lock?.taken) throw new StartError('The database is being migrated or restored. Try again in a moment.');
    return work(em);
  });
}

/** Writes all tables. Throws the signal's reason once it is aborted. */
async function write(
  em: EntityManager,
  { vault, config }: BackupParts,
  writer: BackupWriter,
  interrupted: AbortSignal,
): Promise<Omit<FinishedBackup, 'file'>> {
  const migrations = await appliedMigrations(em);
  if (!migrations) throw new StartError('This is not a Latchkey database: there is nothing to back up.');
  const [clock] = await query(em, sql<{ now: string }>`select now() as now`);
  const takenAt = new Date(clock?.now as string);
  const id = systemRandom.id();
  await writer.manifest({
    format: backupFormat,
    version: backupVersion,
    id,
    takenAt: takenAt.toISOString(),
    issuer: config.BASE_URL,
    migrations,
    masterKey: vault.name,
    masterKeyProof: vault.mac('backup', id, 'proof'),
  });
  for (const table of await tablesOf(em)) {
    await writer.table({ table: table.name, columns: table.columns });
    for await (const rows of rowsOf(em, table)) {
      interrupted.throwIfAborted();
      await writer.rows(rows);
    }
  }
  const trailer = await writer.end((checksum) => vault.mac('backup', id, checksum));
  return { takenAt, bytes: writer.bytes, rows: trailer.rows, checksum: trailer.checksum };
}
