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
  summary: 'Writes the whole database to one file, as it is at this moment, while everything runs.',
  options: {
    to: {
      type: 'string',
      value: 'file or folder',
      description: 'where to; - for stdout. Default: DATA_DIR/backups',
    },
  },
  notes: [
    'Works alike for the embedded database and for DATABASE_URL, and needs no other program. What is sealed stays sealed:',
    'the file is of no use without the master key, which is not in it. Names and addresses of people are in it as they are.',
    'Left out: the job queue (what waits in it is found again, or has expired).',
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

/** Written beside its place and put there complete: a file with the name of a backup is one. */
async function toFile(opened: Opened, target: string | undefined): Promise<Made> {
  const path = placeFor(opened, target);
  const draft = `${path}.partial`;
  const descriptor = openDraft(draft);
  try {
    const stream = createWriteStream(draft, { fd: descriptor, autoClose: false });
    const figures = await write(opened, new BackupWriter(stream));
    fsyncSync(descriptor);
    if (existsSync(path)) throw new UsageError(`${path} is there already: name another file`);
    // A folder that was not made yet, or is not mounted, would become a file, and every later backup fail at it.
    if (!path.endsWith('.gz'))
      throw new UsageError(`${path} is no folder: make it, or name a file that ends in .jsonl.gz`);
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
    const mend = code === 'EEXIST' ? 'another backup is writing it, or one was cut off: remove it' : code;
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
  if (existsSync(path)) throw new UsageError(`${path} is there already: name another file`);
  if (target === undefined) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return path;
}

/** Everything in one snapshot, which no migration can change meanwhile. */
async function write({ services, config }: Opened, writer: BackupWriter): Promise<Omit<Made, 'file' | 'path'>> {
  const { db, vault } = services;
  return db.snapshot(async (em) => {
    await withoutLimits(em);
    // To wait would be to look at a schema of before: the first statement takes the snapshot.
    const [lock] = await query(
      em,
      sql<{ taken: boolean }>`select pg_try_advisory_xact_lock_shared(${migrationLock}) as taken`,
    );
    if (!lock?.taken) throw new StartError('The database is being migrated or restored: try again in a moment.');
    const migrations = await appliedMigrations(em);
    if (!migrations) throw new StartError('This database holds no Latchkey: there is nothing to back up.');
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
