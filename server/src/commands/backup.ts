import { existsSync, mkdirSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import type { EntityManager } from '@mikro-orm/postgresql';
import { BackupWriter, backupFormat, backupVersion } from '../adapters/files/backup.ts';
import { Draft, removeAbandoned } from '../adapters/files/draft.ts';
import { migrationLock, withoutLimits } from '../adapters/postgres/database.ts';
import { appliedMigrations, rowsOf, tablesOf } from '../adapters/postgres/table-copy.ts';
import { systemRandom } from '../adapters/system/random.ts';
import type { FinishedBackup } from '../domain/instance/backups.ts';
import { query, sql } from '../domain/kernel/sql.ts';
import { StartError } from '../instance.ts';
import { type Command, type Opened, type Surroundings, UsageError, withInstance } from './command.ts';

/** The first number of the advisory lock of a file's name. */
const draftLocks = 7_316_904;

export const backup: Command = {
  name: 'backup',
  summary: 'Writes a consistent snapshot of the database to one file. The server can keep running.',
  options: {
    to: {
      type: 'string',
      value: 'file or folder',
      description: 'destination; - for stdout. Default: DATA_DIR/backups',
    },
  },
  notes: [
    'Works with the embedded database and with DATABASE_URL, and needs no other program. Secrets stay encrypted: the file',
    'cannot be restored without the master key, which it does not contain. Names and addresses of users are in plain text.',
    'The job queue is not included: pending work is found again after a restore, or has expired.',
  ],
  run: (input, surroundings) =>
    withInstance(
      surroundings,
      async (opened) => {
        const target = input.text('to');
        if (target !== '-') surroundings.say(await backUp(opened, target, surroundings));
        else await record(opened, await toStdout(opened, surroundings), surroundings);
        return 0;
      },
      { migrate: false },
    ),
};

/**
 * Writes a backup and records it.
 * @param target a file or folder; default: DATA_DIR/backups
 * @returns the path of the file
 */
export async function backUp(opened: Opened, target: string | undefined, surroundings: Surroundings): Promise<string> {
  const path = placeFor(opened, target, surroundings.complain);
  await record(opened, await toFile(opened, path, surroundings.interrupted()), surroundings);
  return path;
}

async function record({ services }: Opened, made: FinishedBackup, { complain }: Surroundings): Promise<void> {
  const [has] = await query(
    services.db.reader(),
    sql<{ table: boolean }>`select to_regclass('backups') is not null as table`,
  );
  if (has?.table) await services.backups.record(made);
  complain(`${made.rows} rows, ${made.bytes} bytes, as of ${made.takenAt.toISOString()}`);
}

function toStdout(opened: Opened, { stdout, interrupted }: Surroundings): Promise<FinishedBackup> {
  const through = new PassThrough();
  through.pipe(stdout, { end: false });
  return snapshot(opened, async (em) => ({
    file: 'stdout',
    ...(await write(em, opened, new BackupWriter(through), interrupted())),
  }));
}

/** Writes to a draft, so that a file with the final name is complete. */
function toFile(opened: Opened, path: string, interrupted: AbortSignal): Promise<FinishedBackup> {
  return snapshot(opened, async (em) => {
    const [lock] = await query(
      em,
      sql<{ taken: boolean }>`
        select pg_try_advisory_xact_lock(${draftLocks}, hashtext(${`${hostname()}:${path}`})) as taken`,
    );
    if (!lock?.taken) throw new StartError(`Another backup to ${path} is running.`);
    const draft = openDraft(path);
    try {
      const figures = await write(em, opened, new BackupWriter(draft.stream), interrupted);
      if (!draft.publish()) throw new UsageError(`${path} was written by another run: choose another file`);
      return { file: basename(path), ...figures };
    } finally {
      draft.close();
    }
  });
}

function openDraft(path: string): Draft {
  try {
    return new Draft(path);
  } catch (error) {
    throw new StartError(`${path} cannot be written (${(error as NodeJS.ErrnoException).code}).`);
  }
}

const nameFormat = /^latchkey-\d{8}T\d{6}Z\.jsonl\.gz$/;

function placeFor({ config, now }: Opened, target: string | undefined, complain: (line: string) => void): string {
  const name = `latchkey-${now()
    .toISOString()
    .replace(/[-:]|\.\d+/g, '')}.jsonl.gz`;
  const folder = resolve(target ?? join(config.DATA_DIR, 'backups'));
  if (target === undefined) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory();
  const path = isFolder ? join(folder, name) : folder;
  if (existsSync(path)) throw new UsageError(`${path} already exists: choose another file`);
  // A missing or unmounted folder would otherwise become a file, and every later backup to it would fail.
  if (!path.endsWith('.gz'))
    throw new UsageError(`${path} is not a folder: create it, or use a file name that ends in .jsonl.gz`);
  if (isFolder) {
    for (const left of removeAbandoned(folder, (one) => nameFormat.test(one)))
      complain(`Removed ${left} of an interrupted backup`);
  }
  return path;
}

/** Runs `work` on one snapshot. Holds the migration lock, so that the schema cannot change. */
function snapshot<T>({ services }: Opened, work: (em: EntityManager) => Promise<T>): Promise<T> {
  return services.db.snapshot(async (em) => {
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
  { services: { vault }, config }: Opened,
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
