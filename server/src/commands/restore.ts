import { resolve } from 'node:path';
import { BackupFileError, type BackupVerifier, type Manifest, readBackup } from '../adapters/files/backup.ts';
import { existingMasterKeysOf, type MasterKeys } from '../adapters/files/master-key.ts';
import { migrationLock, openDatabase, withoutLimits } from '../adapters/postgres/database.ts';
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
import type { Config } from '../config.ts';
import { query, sql } from '../domain/kernel/sql.ts';
import { Vault } from '../domain/keys/vault.ts';
import { compose, givenMasterKeys, openConfigured, StartError } from '../instance.ts';
import { migrations as knownMigrations } from '../migrations/index.ts';
import type { Command, Surroundings } from './command.ts';

export const restore: Command = {
  name: 'restore',
  summary: 'Puts a backup into an empty database.',
  operands: ['<file>'],
  options: {
    'end-sessions': { type: 'boolean', description: 'everybody signs in anew (trusted devices stay)' },
    check: { type: 'boolean', description: 'only reads the file through: is it whole, and does the master key fit?' },
  },
  notes: [
    'Needs the master key that the backup was made under: in MASTER_KEY, or as master.key in DATA_DIR. File and key are',
    'checked before anything is written, and then it is all or nothing. What was revoked after the backup was made',
    '(keys, devices, sessions, admins) is good again: see server/docs/backup.md.',
  ],
  run: async (input, surroundings) => {
    const config = surroundings.config();
    const path = resolve(input.operands[0] as string);
    const verifier = verifierOf(config, path);
    const { manifest, count } = await readThrough(path, verifier);
    surroundings.complain(`${path} is whole: ${count} rows, as of ${manifest.takenAt}`);
    if (input.flag('check')) return 0;
    await load(path, verifier, manifest, surroundings, input.flag('end-sessions'));
    surroundings.say(`Restored ${count} rows, as of ${manifest.takenAt}. Start the server.`);
    if (manifest.issuer !== config.BASE_URL) {
      surroundings.say(
        `It was ${manifest.issuer} and is ${config.BASE_URL} now: applications and trusted devices know the old one.`,
      );
    }
    return 0;
  },
};

/** Refuses a file of another master key, or of a newer Latchkey. */
function verifierOf(config: Config, path: string): BackupVerifier {
  const keys = givenMasterKeys(config) ?? (config.DATABASE_URL ? undefined : ownKeys(config));
  if (!keys) {
    throw new StartError(
      `A backup needs its master key: put it into ${resolve(config.DATA_DIR)}/master.key, or set MASTER_KEY.`,
    );
  }
  const vault = new Vault(keys.first, systemRandom, keys.second);
  return {
    manifest({ id, masterKey, masterKeyProof, migrations }) {
      if (!vault.matches('backup', id, 'proof', masterKeyProof)) {
        throw new BackupFileError(
          `${path} was made under another master key (${masterKey}, and this is ${vault.name}): set MASTER_KEY to that one.`,
        );
      }
      const unknown = migrations.find((name) => !knownMigrations.some((known) => known.name === name));
      if (unknown !== undefined) {
        throw new BackupFileError(
          `${path} was made by a newer Latchkey (it has ${unknown}): restore it with that one.`,
        );
      }
    },
    isSealed: ({ id }, { checksum, seal }) => vault.matches('backup', id, checksum, seal),
  };
}

function ownKeys(config: Config): MasterKeys | undefined {
  return existingMasterKeysOf(resolve(config.DATA_DIR));
}

async function readThrough(path: string, verifier: BackupVerifier): Promise<{ manifest: Manifest; count: number }> {
  let seen: Manifest | undefined;
  let count = 0;
  const noting: BackupVerifier = {
    ...verifier,
    manifest(manifest) {
      verifier.manifest(manifest);
      seen = manifest;
    },
  };
  for await (const part of readBackup(path, noting)) if ('rows' in part) count += part.rows.length;
  return { manifest: seen as Manifest, count };
}

/** Schema, data and what has been migrated since, in one transaction. */
async function load(
  path: string,
  verifier: BackupVerifier,
  manifest: Manifest,
  { config: loadSettings, clock, complain }: Surroundings,
  endSessions: boolean,
): Promise<void> {
  const config = loadSettings();
  const database = await openConfigured(config, true, (line) => complain(`· ${line}`));
  const orm = await openDatabase({
    url: database.url,
    poolSize: 2,
    migrateInOne: true,
    preparesStatements: config.DATABASE_PREPARED_STATEMENTS,
  }).catch(async (error) => {
    await database.embedded?.stop();
    throw new StartError(`Cannot use the database: ${(error as Error).message.split('\n')[0]}`);
  });
  try {
    await orm.em.fork().transactional(async (em) => {
      await withoutLimits(em);
      await query(em, sql`select pg_advisory_xact_lock(${migrationLock})`);
      const transaction = em.getTransactionContext();
      const applied = (await appliedMigrations(em)) ?? [];
      const filled = await firstFilled(em, await tablesOf(em));
      if (filled !== null) {
        throw new StartError(
          `The database is not empty (there is something in ${filled}): name another one, or another DATA_DIR.`,
        );
      }
      if (applied.some((name) => !manifest.migrations.includes(name))) {
        throw new StartError('The database is empty, but of a newer version than the backup: name one without tables.');
      }
      await orm.migrator.up({ migrations: manifest.migrations, transaction });
      const tables = await tablesOf(em);
      await withoutTriggers(em, tables, async () => {
        let into: Table | undefined;
        for await (const part of readBackup(path, verifier)) {
          if ('header' in part) into = { name: part.header.table, columns: part.header.columns };
          else await insertRows(em, tableAmong(tables, into, path), part.rows);
        }
      });
      await advanceSequences(em, tables);
      if (endSessions) {
        await query(em, sql`update sessions set ended_at = now(), end_reason = 'restored' where ended_at is null`);
      }
      await orm.migrator.up({ transaction });
    });
    const queue = { send: async () => undefined };
    const services = compose(config, database, orm, { queue, clock });
    await services.backups.restored(path.split('/').at(-1) as string, new Date(manifest.takenAt));
  } finally {
    await orm.close(true);
    await database.embedded?.stop();
  }
}

/** Names from the file reach a statement only where the database has them. */
function tableAmong(tables: readonly Table[], wanted: Table | undefined, path: string): Table {
  const known = tables.find(({ name }) => name === wanted?.name);
  if (!wanted || !known || wanted.columns.some((column) => !known.columns.includes(column))) {
    throw new BackupFileError(`${path} holds a table that its own migrations do not make: ${wanted?.name}.`);
  }
  return wanted;
}
