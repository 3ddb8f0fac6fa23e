/**
 * Commands for operators, with or without a running server: `npm run <name> -- …` in a checkout, `latchkey <name> …` in the
 * image.
 */
import { faultLines } from '../instance.ts';
import { adminLink } from './admin-link.ts';
import { backup } from './backup.ts';
import { type Command, parseInput, type Surroundings, UsageError } from './command.ts';
import { apply } from './configuration/apply.ts';
import { plan } from './configuration/plan.ts';
import { pull } from './configuration/pull.ts';
import { doctor } from './doctor.ts';
import { exportProjects } from './export.ts';
import { importProjects } from './import.ts';
import { rehearse } from './rehearse.ts';
import { restore } from './restore.ts';
import { rotateKeys } from './rotate-keys.ts';
import { rotateMasterKey } from './rotate-master-key.ts';
import { upgradeDatabase } from './upgrade-database.ts';
import { verifyEvents } from './verify-events.ts';

export const commands: readonly Command[] = [
  adminLink,
  rotateKeys,
  rotateMasterKey,
  backup,
  restore,
  rehearse,
  upgradeDatabase,
  exportProjects,
  importProjects,
  plan,
  apply,
  pull,
  verifyEvents,
  doctor,
];

/** @returns the exit code: 0 success, 1 failure, 2 invalid arguments; of plan, 2 changes */
export async function runCommand(name: string, args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { say, complain } = surroundings;
  if (['help', '--help', '-h'].includes(name)) {
    for (const line of overview()) say(line);
    return 0;
  }
  const command = commands.find((one) => one.name === name);
  if (!command) {
    complain(`Unknown command: ${name}.`);
    for (const line of overview()) complain(line);
    return 2;
  }
  if (args.includes('--help') || args.includes('-h')) {
    for (const line of helpOf(command)) say(line);
    return 0;
  }
  try {
    return await command.run(parseInput(command, args), surroundings);
  } catch (error) {
    const isUsage = error instanceof UsageError;
    for (const line of isUsage ? [error.message] : faultLines(error)) complain(`${name}: ${line}`);
    if (isUsage) for (const line of helpOf(command)) complain(line);
    return isUsage ? (command.usageExitCode ?? 2) : 1;
  }
}

function overview(): string[] {
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
