import { parseArgs } from 'node:util';
import type { PassphraseCosts } from '../adapters/files/transfer.ts';
import type { Config } from '../config.ts';
import type { Clock } from '../domain/kernel/clock.ts';

/** The process environment that a command runs in. */
export interface CommandContext {
  /** Reads the settings; throws `ConfigError`. */
  config(): Config;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  /** From this call on, the first stop signal aborts the result instead of ending the process; the second one ends it. */
  interrupted(): AbortSignal;
  /** Of the keys of exports. Default: those of the format. */
  passphraseCosts?: PassphraseCosts;
  /** For binary output. */
  stdout: NodeJS.WritableStream;
  /** Writes a line of the result to stdout. */
  print(line: string): void;
  /** Writes a line of progress or an error to stderr. */
  log(line: string): void;
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
  run(input: Input, context: CommandContext): Promise<number>;
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
