import { resolve } from 'node:path';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Config } from '../config.ts';
import { hasDatabase, type OpenedDatabase, openConfigured, reach, StartError } from '../instance.ts';
import type { CommandContext } from './command.ts';

/** The settings, and the database they name. */
export interface Opened {
  config: Config;
  database: OpenedDatabase;
  orm: MikroORM;
  /** Long work throws its reason once it is aborted. */
  interrupted: AbortSignal;
  now(): Date;
}

/** Options of {@link withDatabase}. */
export interface OpenOptions {
  /** No server may be running; with `alone`, no other command, either. */
  exclusive?: boolean | 'alone';
  migrate?: boolean;
  programs?: string;
}

/** Throws {@link StartError} if there is no database, since opening one would create it, with a new master key. */
export function mustHaveDatabase(config: Config): Config {
  if (hasDatabase(config)) return config;
  throw new StartError(
    `There is no database in ${resolve(config.DATA_DIR)}: run this command with the settings of the server (DATABASE_URL or DATA_DIR), or start the server once.`,
  );
}

/** Opens the database while `work` runs. A server may be running at the same time, unless `exclusive`. */
export async function withDatabase<T>(
  { config: load, clock, log, interrupted }: CommandContext,
  work: (opened: Opened) => Promise<T>,
  { exclusive = false, migrate = true, programs }: OpenOptions = {},
): Promise<T> {
  const config = mustHaveDatabase(load());
  // A signal does not end the process before the embedded database has been stopped.
  const signal = interrupted();
  const print = (line: string): void => log(`· ${line}`);
  const database = await openConfigured(config, exclusive, print, programs);
  let orm: MikroORM | undefined;
  try {
    orm = await reach(database.url, config, { migrate, print });
    return await work({ config, database, orm, interrupted: signal, now: () => clock.now() });
  } finally {
    await orm?.close(true);
    await database.embedded?.stop();
  }
}
