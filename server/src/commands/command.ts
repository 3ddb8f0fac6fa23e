import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Config } from '../config.ts';
import type { Clock } from '../domain/kernel/clock.ts';
import { compose, hasDatabase, type OpenedDatabase, openConfigured, reach, StartError } from '../instance.ts';
import type { Services } from '../services.ts';

/** What a command is given of the process that it runs in. */
export interface Surroundings {
  /** Reads the settings; throws `ConfigError`. */
  config(): Config;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  /** For what is no text. */
  stdout: NodeJS.WritableStream;
  /** A line of the result, on stdout. */
  say(line: string): void;
  /** A line of progress or of what is wrong, on stderr. */
  complain(line: string): void;
}

/** An option: `--name` alone, or `--name value`. */
export interface Option {
  type: 'boolean' | 'string';
  /** Of the value, for the help. */
  value?: string;
  description: string;
}

/** Something that an operator does from a shell: `npm run <name>`, or `latchkey <name>` in the image. */
export interface Command {
  name: string;
  /** One sentence. */
  summary: string;
  /** What stands after the options, e.g. `<file>`. */
  operands?: readonly string[];
  options?: Readonly<Record<string, Option>>;
  /** What one has to know before, in whole lines. */
  notes?: readonly string[];
  /** @returns the exit code */
  run(input: Input, surroundings: Surroundings): Promise<number>;
}

/** What stood behind the command's name. */
export interface Input {
  operands: string[];
  flag(name: string): boolean;
  text(name: string): string | undefined;
}

/** Wrong use of a command: told in a line, with the help. */
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
    if (positionals.length > expected.length) throw new UsageError(`${positionals.at(-1)} is one word too many`);
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

/** What a command works on: the domain, its database, and the way to it. */
export interface Opened {
  config: Config;
  database: OpenedDatabase;
  orm: MikroORM;
  services: Services;
  now(): Date;
}

/** A command that was not given the server's settings would make a database, and a master key, of its own. */
export function mustHaveDatabase(config: Config): Config {
  if (hasDatabase(config)) return config;
  throw new StartError(
    `There is no database in ${resolve(config.DATA_DIR)}: give this command the settings of the server (DATABASE_URL or DATA_DIR), or start the server once.`,
  );
}

/** Opens the instance beside a live server, or without one, for as long as `work` takes. */
export async function withInstance<T>(
  { config: load, clock, complain }: Surroundings,
  work: (opened: Opened) => Promise<T>,
  { exclusive = false, migrate = true } = {},
): Promise<T> {
  const config = mustHaveDatabase(load());
  const database = await openConfigured(config, exclusive, (line) => complain(`· ${line}`));
  let orm: MikroORM | undefined;
  try {
    orm = await reach(database.url, config, { migrate });
    // Nothing that a command does asks for a job.
    const queue = { send: async () => Promise.reject(new StartError('a command asks for no jobs')) };
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
