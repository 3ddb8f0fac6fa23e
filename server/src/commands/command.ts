import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Config } from '../config.ts';
import type { Clock } from '../domain/kernel/clock.ts';
import { compose, hasDatabase, type OpenedDatabase, openConfigured, reach, StartError } from '../instance.ts';
import type { Services } from '../services.ts';

/** The process environment that a command runs in. */
export interface Surroundings {
  /** Reads the settings; throws `ConfigError`. */
  config(): Config;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  /** From this call on, a signal to stop does not end the process but aborts this; the next one ends it. */
  interrupted(): AbortSignal;
  /** For binary output. */
  stdout: NodeJS.WritableStream;
  /** Writes a line of the result to stdout. */
  say(line: string): void;
  /** Writes a line of progress or an error to stderr. */
  complain(line: string): void;
}

/** An option: `--name` alone, or `--name value`. */
export interface Option {
  type: 'boolean' | 'string';
  /** Placeholder of the value in the help. */
  value?: string;
  description: string;
}

/** An operator's command: `npm run <name>`, or `latchkey <name>` in the image. */
export interface Command {
  name: string;
  /** One sentence. */
  summary: string;
  /** Positional arguments, e.g. `<file>`. */
  operands?: readonly string[];
  options?: Readonly<Record<string, Option>>;
  /** Further lines of the help. */
  notes?: readonly string[];
  /** For invalid arguments; default: 2. */
  usageExitCode?: number;
  /** @returns the exit code */
  run(input: Input, surroundings: Surroundings): Promise<number>;
}

/** Parsed arguments. */
export interface Input {
  operands: string[];
  flag(name: string): boolean;
  text(name: string): string | undefined;
}

/** Invalid arguments. Printed with the help; exit code 2. */
export class UsageError extends Error {}

/** Throws {@link UsageError}. */
export function parseInput(command: Command, args: readonly string[]): Input {
  const declared = Object.entries(command.options ?? {}).map(([name, { type }]) => [name, { type }] as const);
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: Object.fromEntries(declared),
      allowPositionals: true,
      strict: true,
    });
    const expected = command.operands ?? [];
    if (positionals.length > expected.length) throw new UsageError(`unexpected argument ${positionals.at(-1)}`);
    const missing = expected[positionals.length];
    if (missing !== undefined && !missing.startsWith('[')) throw new UsageError(`${missing} is missing`);
    return {
      operands: positionals,
      flag: (name) => values[name] === true,
      text: (name) => (typeof values[name] === 'string' ? values[name] : undefined),
    };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError((error as Error).message.split('. ')[0]);
  }
}

/** An opened instance: settings, database and services. */
export interface Opened {
  config: Config;
  database: OpenedDatabase;
  orm: MikroORM;
  services: Services;
  now(): Date;
}

/** Throws {@link StartError} if there is no database, since opening one would create it, with a new master key. */
export function mustHaveDatabase(config: Config): Config {
  if (hasDatabase(config)) return config;
  throw new StartError(
    `There is no database in ${resolve(config.DATA_DIR)}: run this command with the settings of the server (DATABASE_URL or DATA_DIR), or start the server once.`,
  );
}

/** Opens the instance while `work` runs. A server may be running at the same time, unless `exclusive`. */
export async function withInstance<T>(
  { config: load, clock, complain }: Surroundings,
  work: (opened: Opened) => Promise<T>,
  { exclusive = false, migrate = true, programs }: { exclusive?: boolean; migrate?: boolean; programs?: string } = {},
): Promise<T> {
  const config = mustHaveDatabase(load());
  const database = await openConfigured(config, exclusive, (line) => complain(`· ${line}`), programs);
  let orm: MikroORM | undefined;
  try {
    orm = await reach(database.url, config, { migrate });
    // Commands do not enqueue jobs.
    const refuseJobs = async () => Promise.reject(new StartError('commands cannot enqueue jobs'));
    const queue = { send: refuseJobs, sendMany: refuseJobs };
    return await work({
      config,
      database,
      orm,
      services: compose(config, database, orm, { queue, clock }),
      now: () => clock.now(),
    });
  } finally {
    await orm?.close(true);
    await database.embedded?.stop();
  }
}
