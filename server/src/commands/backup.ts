import { createWriteStream, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { BackupWriter, backupFormat, backupVersion } from '../adapters/files/backup.ts';
import { migrationLock, withoutLimits } from '../adapters/postgres/database.ts';
import { appliedMigrations, rowsOf, tablesOf } from '../adapters/postgres/table-copy.ts';
import { systemRandom } from '../adapters/system/random.ts';
import { query, sql } from '../domain/kernel/sql.ts';
import { StartError } from '../instance.ts';
import { type Command, type Opened, UsageError, withInstance } from './command.ts';

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
        const made = target === '-' ? await toStdout(opened, surroundings.stdout) : await toFile(opened, target);
        const { file, path, ...figures } = made;
        const [has] = await query(
          opened.services.db.reader(),
          sql<{ table: boolean }>`select to_regclass('backups') is not null as table`,
        );
        if (has?.table) await opened.services.backups.record({ file, ...figures });
        surroundings.complain(`${figures.rows} rows, ${figures.bytes} bytes, as of ${figures.takenAt.toISOString()}`);
        if (path !== undefined) surroundings.say(path);
        return 0;
      },
      { migrate: false },
    ),
};

interface Made {
  file: string;
  path?: string;
  takenAt: Date;
  bytes: number;
  rows: number;
  checksum: string;
}

async function toStdout(opened: Opened, stdout: NodeJS.WritableStream): Promise<Made> {
  const through = new PassThrough();
  through.pipe(stdout, { end: false });
  return { file: 'stdout', ...(await write(opened, new BackupWriter(through))) };
}

/** Writes to a `.partial` file and renames it, so that a file with the final name is complete. */
async function toFile(opened: Opened, target: string | undefined): Promise<Made> {
  const path = placeFor(opened, target);
  const draft = `${path}.partial`;
  const descriptor = openDraft(draft);
  try {
    const stream = createWriteStream(draft, { fd: descriptor, autoClose: false });
    const figures = await write(opened, new BackupWriter(stream));
    fsyncSync(descriptor);
    if (existsSync(path)) throw new UsageError(`${path} already exists: choose another file`);
    // A missing or unmounted folder would otherwise become a file, and every later backup to it would fail.
    if (!path.endsWith('.gz'))
      throw new UsageError(`${path} is not a folder: create it, or use a file name that ends in .jsonl.gz`);
    renameSync(draft, path);
    return { file: basename(path), path, ...figures };
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function openDraft(draft: string): number {
  try {
    return openSync(draft, 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const mend = code === 'EEXIST' ? 'another backup is writing it, or one was interrupted: remove it' : code;
    throw new StartError(`${draft} cannot be written: ${mend}.`);
  }
}

function placeFor({ config, now }: Opened, target: string | undefined): string {
  const name = `latchkey-${now()
    .toISOString()
    .replace(/[-:]|\.\d+/g, '')}.jsonl.gz`;
  const isFolder = target !== undefined && statSync(target, { throwIfNoEntry: false })?.isDirectory();
  const path =
    target === undefined
      ? join(resolve(config.DATA_DIR), 'backups', name)
      : isFolder
        ? join(resolve(target), name)
        : resolve(target);
  if (existsSync(path)) throw new UsageError(`${path} already exists: choose another file`);
  if (target === undefined) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return path;
}

/** Writes all tables from one snapshot. Holds the migration lock, so that the schema cannot change. */
async function write({ services, config }: Opened, writer: BackupWriter): Promise<Omit<Made, 'file' | 'path'>> {
  const { db, vault } = services;
  return db.snapshot(async (em) => {
    await withoutLimits(em);
    // Do not wait for the lock: the first statement takes the snapshot, so the schema would be the old one.
    const [lock] = await query(
      em,
      sql<{ taken: boolean }>`select pg_try_advisory_xact_lock_shared(${migrationLock}) as taken`,
    );
    if (!lock?.taken) throw new StartError('The database is being migrated or restored. Try again in a moment.');
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
      for await (const json of rowsOf(em, table)) await writer.row(json);
    }
    const trailer = await writer.end((checksum) => vault.mac('backup', id, checksum));
    return { takenAt, bytes: writer.bytes, rows: trailer.rows, checksum: trailer.checksum };
  });
}
