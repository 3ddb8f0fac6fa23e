import { PassThrough } from 'node:stream';
import { systemClock } from '../src/adapters/system/clock.ts';
import type { CommandContext } from '../src/commands/command.ts';
import { runCommand } from '../src/commands/commands.ts';
import { loadConfig } from '../src/config.ts';
import type { Clock } from '../src/domain/kernel/clock.ts';
import { openConfigured } from '../src/instance.ts';

/** Output and exit code of a command. */
export interface Ran {
  code: number;
  /** stdout. */
  out: string;
  /** stderr. */
  err: string;
}

/** Runs a command in this process with exactly these settings. */
export function shell(env: Record<string, string>, name: string, ...args: string[]): Promise<Ran> {
  return shellAt(systemClock, env, name, ...args);
}

/** Like {@link shell}, at the time of `clock`. */
export function shellAt(clock: Clock, env: Record<string, string>, name: string, ...args: string[]): Promise<Ran> {
  return shellUntil(new AbortController().signal, clock, env, name, ...args);
}

/** Like {@link shellAt}, but ends when `interrupted` is aborted. */
export function shellUntil(
  interrupted: AbortSignal,
  clock: Clock,
  env: Record<string, string>,
  name: string,
  ...args: string[]
): Promise<Ran> {
  return shellWith({ clock, interrupted: () => interrupted }, env, name, ...args);
}

/** Like {@link shell}, in a context that differs. */
export async function shellWith(
  context: Partial<CommandContext>,
  env: Record<string, string>,
  name: string,
  ...args: string[]
): Promise<Ran> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCommand(name, args, {
    ...contextOf(env),
    ...context,
    print: (line) => void out.push(line),
    log: (line) => void err.push(line),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

/** A context for direct calls of a command's functions, without output. */
export function contextOf(env: Record<string, string>): CommandContext {
  return {
    config: () => loadConfig(env, () => ''),
    env,
    clock: systemClock,
    interrupted: () => new AbortController().signal,
    stdout: new PassThrough().resume(),
    print: () => undefined,
    log: () => undefined,
  };
}

/** Initializes a data folder as the first start of a server does: an empty database and a master key. */
export async function firstStart(dataDir: string): Promise<void> {
  const config = loadConfig({ DATA_DIR: dataDir }, () => '');
  const { embedded } = await openConfigured(config, true, () => undefined);
  await embedded?.stop();
}

/** The master key of `buildTestApp`, as a value of MASTER_KEY. */
export const testMasterKey = Buffer.alloc(32, 7).toString('base64');
