/**
 * Commands for operators, with or without a running server: `npm run <name> -- …` in a checkout, `latchkey <name> …` in the
 * image.
 */
import { faultLines } from '../faults.ts';
import { type Command, type CommandContext, parseInput, UsageError } from './command.ts';

/** By name, in the order of the help. Loaded on demand: a command does not load the modules of the others. */
const loaders: Readonly<Record<string, () => Promise<Command>>> = {
  'admin:link': async () => (await import('./admin-link.ts')).adminLink,
  'keys:rotate': async () => (await import('./rotate-keys.ts')).rotateKeys,
  'master-key:rotate': async () => (await import('./rotate-master-key.ts')).rotateMasterKey,
  backup: async () => (await import('./backup.ts')).backup,
  restore: async () => (await import('./restore.ts')).restore,
  rehearse: async () => (await import('./rehearse.ts')).rehearse,
  'database:upgrade': async () => (await import('./upgrade-database.ts')).upgradeDatabase,
  export: async () => (await import('./export.ts')).exportProjects,
  import: async () => (await import('./import.ts')).importProjects,
  'import-users': async () => (await import('./importing/import-users.ts')).importUsers,
  plan: async () => (await import('./configuration/plan.ts')).plan,
  apply: async () => (await import('./configuration/apply.ts')).apply,
  pull: async () => (await import('./configuration/pull.ts')).pull,
  'events:verify': async () => (await import('./verify-events.ts')).verifyEvents,
  doctor: async () => (await import('./doctor/doctor.ts')).doctor,
};

/** All commands, in the order of the help. */
export function allCommands(): Promise<Command[]> {
  return Promise.all(Object.values(loaders).map((load) => load()));
}

/** @returns the exit code: 0 success, 1 failure, 2 invalid arguments; for plan, 2 means changes */
export async function runCommand(name: string, args: readonly string[], context: CommandContext): Promise<number> {
  const { print, log } = context;
  if (['help', '--help', '-h'].includes(name)) {
    for (const line of await overview()) print(line);
    return 0;
  }
  const load = Object.hasOwn(loaders, name) ? loaders[name] : undefined;
  if (!load) {
    log(`Unknown command: ${name}.`);
    for (const line of await overview()) log(line);
    return 2;
  }
  const command = await load();
  if (args.includes('--help') || args.includes('-h')) {
    for (const line of helpOf(command)) print(line);
    return 0;
  }
  try {
    return await command.run(parseInput(command, args), context);
  } catch (error) {
    const isUsage = error instanceof UsageError;
    for (const line of isUsage ? [error.message] : faultLines(error)) log(`${name}: ${line}`);
    if (isUsage) for (const line of helpOf(command)) log(line);
    return isUsage ? (command.usageExitCode ?? 2) : 1;
  }
}

async function overview(): Promise<string[]> {
  const commands = await allCommands();
  const width = Math.max(...commands.map(({ name }) => name.length)) + 3;
  return [
    'Without a command, Latchkey starts the server. Commands:',
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`),
    '',
    'Run a command with --help for details.',
  ];
}

function helpOf({ name, summary, operands = [], options = {}, notes = [] }: Command): string[] {
  const rows = Object.entries(options).map(
    ([option, { value, description }]) => [`--${option}${value ? ` <${value}>` : ''}`, description] as const,
  );
  const width = Math.max(0, ...rows.map(([left]) => left.length)) + 3;
  return [
    `${[name, ...operands].join(' ')}${rows.length > 0 ? ' [options]' : ''}`,
    '',
    summary,
    ...(notes.length > 0 ? ['', ...notes] : []),
    ...(rows.length > 0 ? ['', ...rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`)] : []),
  ];
}
