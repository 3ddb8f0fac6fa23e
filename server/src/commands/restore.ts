import { resolve } from 'node:path';
import {
  BackupFileError,
  type BackupPart,
  type BackupSource,
  type BackupVerifier,
  type Manifest,
  readBackup,
} from '../adapters/files/backup.ts';
import { existingMasterKeysOf, type MasterKeys } from '../adapters/files/master-key.ts';
import { attended } from '../adapters/postgres/attended.ts';
import { sinceBaseline, upgradingCommit } from '../adapters/postgres/baseline.ts';
import { mustBeWritable, openForMigrations, withMigrationLock } from '../adapters/postgres/database.ts';
import {
  advanceSequences,
  appliedMigrations,
  firstFilled,
  insertRows,
  type Table,
  tablesOf,
  withoutTriggers,
} from '../adapters/postgres/table-copy.ts';
import { systemRandom } from '../adapters/system/random.ts';
import { compose } from '../compose.ts';
import type { Config } from '../config.ts';
import { sealedColumns } from '../domain/instance/master-key-change.ts';
import { noQueue } from '../domain/kernel/queue.ts';
import { query, sql } from '../domain/kernel/sql.ts';
import { Vault } from '../domain/keys/vault.ts';
import { givenMasterKeys, openConfigured, StartError } from '../instance.ts';
import { migrations as knownMigrations } from '../migrations/index.ts';
import { sourceOf } from './backup-places.ts';
import type { Command, CommandContext } from './command.ts';

export const restore: Command = {
  name: 'restore',
  summary: 'Restores a backup into an empty database.',
  operands: ['<file>'],
  options: {
    'end-sessions': { type: 'boolean', description: 'end all sessions and refresh tokens (trusted devices stay)' },
    check: { type: 'boolean', description: 'only verify that the file is complete and the master key matches' },
  },
  notes: [
    'Needs the master key of the backup, in MASTER_KEY or as master.key in DATA_DIR. File and key are verified before',
    'anything is written, and the restore is one transaction. Keys, devices, sessions and admins that were revoked after',
    'the backup are active again: see server/docs/backup.md. Messages that were pending are sent within minutes after',
    'the start of the server, unless they have expired.',
  ],
  run: async (input, context) => {
    const config = context.config();
    const options = { endSessions: input.flag('end-sessions'), checkOnly: input.flag('check') };
    const { manifest, count } = await restoreFile(input.operands[0] as string, context, options);
    if (options.checkOnly) return 0;
    context.print(`Restored ${count} rows, as of ${manifest.takenAt}. Start the server.`);
    if (manifest.issuer !== config.BASE_URL) {
      context.print(
        `The issuer was ${manifest.issuer} and is now ${config.BASE_URL}: applications and trusted devices use the old one.`,
      );
    }
    return 0;
  },
};

/**
 * Verifies the file, then restores it into the configured database, which must be empty.
 * @param file path or `s3://` URL
 * @param laterMigrations false: the schema stays that of the backup
 */
export async function restoreFile(
  file: string,
  context: CommandContext,
  { checkOnly = false, ...options }: Partial<LoadOptions> & { checkOnly?: boolean } = {},
): Promise<{ manifest: Manifest; count: number }> {
  const config = context.config();
  // A signal rolls back and closes the database.
  const interrupted = context.interrupted();
  const given = await sourceOf(file, config, interrupted);
  const vault = vaultOf(config);
  const verifier = verifierOf(vault, given.name);
  const source = { ...given, interrupted };
  const read = await readThrough(source, verifier, vault);
  context.log(`${source.name} is complete: ${read.count} rows, as of ${read.manifest.takenAt}`);
  for (const [key, { values, hasSigningKeys }] of read.otherKeys) {
    const line =
      `${values} values of ${source.name} are encrypted with another master key (${key}), as during a rotation: ` +
      'set MASTER_KEY_SECOND to it, in addition to MASTER_KEY.';
    if (hasSigningKeys) throw new BackupFileError(line);
    context.log(`Warning: ${line}`);
  }
  if (!checkOnly) await load(source, verifier, read.manifest, context, options);
  return read;
}

function vaultOf(config: Config): Vault {
  const keys = givenMasterKeys(config) ?? (config.DATABASE_URL ? undefined : ownKeys(config));
  if (!keys) {
    throw new StartError(
      `The master key of the backup is required: copy it to ${resolve(config.DATA_DIR)}/master.key, or set MASTER_KEY.`,
    );
  }
  return new Vault(keys.first, systemRandom, keys.second);
}

/** Rejects backups made with another master key or by a newer version. */
function verifierOf(vault: Vault, path: string): BackupVerifier {
  return {
    manifest({ id, masterKey, masterKeyProof, migrations }) {
      if (!vault.matches('backup', id, 'proof', masterKeyProof)) {
        throw new BackupFileError(
          `${path} was made with another master key (${masterKey}, not ${vault.name}): set MASTER_KEY to that one.`,
        );
      }
      const since = sinceBaseline(migrations);
      if (!since) {
        throw new BackupFileError(
          `${path} is older than release 1.0: restore it with commit ${upgradingCommit}, then start this release.`,
        );
      }
      const unknown = since.find((name) => !knownMigrations.some((known) => known.name === name));
      if (unknown !== undefined) {
        throw new BackupFileError(
          `${path} was made by a newer version of Latchkey (migration ${unknown}): restore it with that version.`,
        );
      }
    },
    isSealed: ({ id }, { checksum, seal }) => vault.matches('backup', id, checksum, seal),
  };
}

function ownKeys(config: Config): MasterKeys | undefined {
  return existingMasterKeysOf(resolve(config.DATA_DIR));
}

/** A backup whose reader throws the signal's reason once the signal is aborted. */
type InterruptibleSource = BackupSource & { interrupted: AbortSignal };

async function readThrough(
  source: InterruptibleSource,
  verifier: BackupVerifier,
  vault: Vault,
): Promise<{ manifest: Manifest; count: number; otherKeys: OtherKeys['found'] }> {
  const others = new OtherKeys(vault);
  let seen: Manifest | undefined;
  let count = 0;
  const noting: BackupVerifier = {
    ...verifier,
    manifest(manifest) {
      verifier.manifest(manifest);
      seen = manifest;
    },
  };
  for await (const part of readBackup(source, noting)) {
    source.interrupted.throwIfAborted();
    others.see(part);
    if ('rows' in part) count += part.rows.length;
  }
  return { manifest: seen as Manifest, count, otherKeys: others.found };
}

/**
 * Counts values that the given master keys cannot decrypt: a backup made while the master key is rotated has values of both
 * keys, and its manifest names one. A server cannot start without its signing keys. Other values may belong to a lost key, and
 * do not prevent a restore.
 */
class OtherKeys {
  readonly found = new Map<string, { values: number; hasSigningKeys: boolean }>();
  private table = '';
  private columns: string[] = [];

  constructor(private readonly vault: Vault) {}

  see(part: BackupPart): void {
    if ('header' in part) {
      this.table = part.header.table;
      this.columns = sealedColumns.filter(({ table }) => table === this.table).map(({ column }) => column);
      return;
    }
    if (this.columns.length === 0) return;
    for (const row of part.rows) this.check(JSON.parse(row) as Record<string, unknown>);
  }

  private check(row: Record<string, unknown>): void {
    for (const value of this.columns.map((column) => row[column])) {
      if (typeof value !== 'string') continue;
      // `bytea` as text: \x and hexadecimal digits.
      const key = this.vault.missingFor(Buffer.from(value.slice(2), 'hex'));
      if (key === null) continue;
      const { values, hasSigningKeys } = this.found.get(key) ?? { values: 0, hasSigningKeys: false };
      this.found.set(key, { values: values + 1, hasSigningKeys: hasSigningKeys || this.table === 'signing_keys' });
    }
  }
}

interface LoadOptions {
  endSessions: boolean;
  laterMigrations: boolean;
}

/** Creates the schema of the backup, loads the data and runs later migrations, in one transaction. */
async function load(
  source: InterruptibleSource,
  verifier: BackupVerifier,
  manifest: Manifest,
  { config: loadSettings, clock, log }: CommandContext,
  { endSessions = false, laterMigrations = true }: Partial<LoadOptions>,
): Promise<void> {
  const config = loadSettings();
  const progress = (line: string): void => log(`· ${line}`);
  const database = await openConfigured(config, true, progress);
  const { url } = database;
  const orm = await attended(url, 'Restore', progress, async (silence) => {
    await mustBeWritable(url, silence);
    const preparesStatements = config.DATABASE_PREPARED_STATEMENTS;
    return openForMigrations({ url, poolSize: 2, migrateInOne: true, preparesStatements, closing: silence });
  }).catch(async (error) => {
    await database.embedded?.stop();
    throw new StartError(`Cannot use the database: ${(error as Error).message.split('\n')[0]}`);
  });
  try {
    await withMigrationLock(orm, async (em) => {
      const transaction = em.getTransactionContext();
      const applied = (await appliedMigrations(em)) ?? [];
      const filled = await firstFilled(em, await tablesOf(em));
      if (filled !== null) {
        throw new StartError(`The database is not empty (${filled} has rows): use another database or DATA_DIR.`);
      }
      // The verifier has refused older ones.
      const migrations = sinceBaseline(manifest.migrations) ?? [];
      if (applied.some((name) => !migrations.includes(name))) {
        throw new StartError(
          'The schema of the empty database is newer than the backup: use a database without tables.',
        );
      }
      await orm.migrator.up({ migrations, transaction });
      const tables = await tablesOf(em);
      await withoutTriggers(em, tables, async () => {
        let into: Table | undefined;
        for await (const part of readBackup(source, verifier)) {
          source.interrupted.throwIfAborted();
          if ('header' in part) into = { name: part.header.table, columns: part.header.columns };
          else await insertRows(em, tableAmong(tables, into, source.name), part.rows);
        }
      });
      await advanceSequences(em, tables);
      if (laterMigrations) await orm.migrator.up({ transaction });
      if (endSessions) {
        await query(em, sql`update sessions set ended_at = now(), end_reason = 'restored' where ended_at is null`);
        await query(em, sql`update refresh_grants set revoked_at = now() where revoked_at is null`);
      }
    });
    // Services need the schema of this release.
    if (!laterMigrations) return;
    const queue = noQueue;
    const services = compose(config, database, orm, { queue, clock });
    await services.backups.restored(source.name.split('/').at(-1) as string, new Date(manifest.takenAt));
  } finally {
    await orm.close(true);
    await database.embedded?.stop();
  }
}

/** Guards against injection: a table or column name from the file must exist in the database. */
function tableAmong(tables: readonly Table[], wanted: Table | undefined, path: string): Table {
  const known = tables.find(({ name }) => name === wanted?.name);
  if (!wanted || !known || wanted.columns.some((column) => !known.columns.includes(column))) {
    throw new BackupFileError(`${path} contains a table that its migrations do not create: ${wanted?.name}.`);
  }
  return wanted;
}
