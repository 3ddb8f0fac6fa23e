import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { MikroORM } from '@mikro-orm/postgresql';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './adapters/embedded/postgres.ts';
import { existingMasterKeysOf, type MasterKeys, masterKeysOf } from './adapters/files/master-key.ts';
import { attended } from './adapters/postgres/attended.ts';
import { type DatabaseOptions, isFilled, migrate, mustBeWritable, openDatabase } from './adapters/postgres/database.ts';
import { poolerFault } from './adapters/postgres/pooler-probe.ts';
import { hasTenantRole, tenantRoleMissing } from './adapters/postgres/row-security.ts';
import { type Config } from './config.ts';
import { OperatorError } from './domain/kernel/problem.ts';

/** The instance cannot be used with its configuration. */
export class StartError extends OperatorError {}

/** The configured database and its master keys. */
export interface OpenedDatabase {
  url: string;
  masterKeys: MasterKeys;
  /** Undefined if DATABASE_URL is set. */
  embedded: EmbeddedPostgres | undefined;
}

/** False if {@link openConfigured} would create an embedded database. */
export function hasDatabase({ DATABASE_URL, DATA_DIR }: Config): boolean {
  return DATABASE_URL !== undefined || existsSync(join(resolve(DATA_DIR), 'postgres'));
}

/**
 * Opens the configured database; without DATABASE_URL, starts the embedded one and creates it if necessary. Throws
 * {@link StartError}.
 *
 * @param exclusive take the embedded database exclusively: true in the server, false in commands; `alone`: no command
 *   may use it either
 * @param programs the package with the embedded PostgreSQL's programs, if not the installed one
 */
export async function openConfigured(
  config: Config,
  exclusive: boolean | 'alone',
  onProgress: (line: string) => void,
  programs?: string,
): Promise<OpenedDatabase> {
  if (config.DATABASE_URL !== undefined) {
    const masterKeys = givenMasterKeys(config);
    if (!masterKeys) throw new StartError('MASTER_KEY is required with DATABASE_URL.');
    return { url: config.DATABASE_URL.reveal(), masterKeys, embedded: undefined };
  }
  const dataDir = resolve(config.DATA_DIR);
  const embedded = await startEmbeddedPostgres({ dataDir, exclusive, onProgress, programs });
  try {
    const masterKeys =
      givenMasterKeys(config) ?? existingMasterKeysOf(dataDir) ?? (await firstMasterKeys(dataDir, embedded));
    return { url: embedded.url, masterKeys, embedded };
  } catch (error) {
    await embedded.stop();
    throw error;
  }
}

/** Creates the key of a new database. Refuses one that contains data: it was sealed with an earlier key. */
async function firstMasterKeys(dataDir: string, { url }: EmbeddedPostgres): Promise<MasterKeys> {
  if (await isFilled(url)) {
    throw new StartError(
      `${join(dataDir, 'master.key')} is missing, and the database is sealed with it: restore the file, or set MASTER_KEY.`,
    );
  }
  return masterKeysOf(dataDir);
}

/** Master keys from the settings; undefined if MASTER_KEY is unset. */
export function givenMasterKeys(config: Config): MasterKeys | undefined {
  const first = config.MASTER_KEY?.reveal();
  return first && { first, second: config.MASTER_KEY_SECOND?.reveal() };
}

/** Options of {@link reach}. */
export interface ReachOptions extends Pick<DatabaseOptions, 'watch' | 'log'> {
  /** Default: true. */
  migrate?: boolean;
  /** Prints progress and waits. */
  print(line: string): void;
}

/** Connects and, by default, migrates the schema. Throws {@link StartError}. */
export async function reach(
  url: string,
  config: Config,
  { migrate: up = true, print, ...options }: ReachOptions,
): Promise<MikroORM> {
  try {
    return await attended(url, 'Migrations', print, async (silence) => {
      if (up) {
        await mustBeWritable(url, silence);
        await migrate(url, print, silence);
      }
      const orm = await openDatabase({
        url,
        poolSize: config.DATABASE_POOL_SIZE,
        ...poolingOf(config),
        closing: silence,
        ...options,
      });
      const fault = config.DATABASE_URL === undefined ? null : await poolerFault(url, poolingOf(config));
      if (fault) throw new Error(fault);
      if (config.DATABASE_ROW_SECURITY && !(await hasTenantRole(orm.em.fork()))) throw new Error(tenantRoleMissing);
      await orm.em.fork().execute('select 1');
      return orm;
    });
  } catch (error) {
    const { message } = error as Error;
    throw new StartError(`Cannot use the database: ${message.split('\n')[0]}`, { cause: error });
  }
}

function poolingOf({ DATABASE_PREPARED_STATEMENTS: preparesStatements, DATABASE_ROW_SECURITY: rowSecurity }: Config) {
  return { preparesStatements, rowSecurity };
}
