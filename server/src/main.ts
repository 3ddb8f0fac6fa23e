import { readFileSync } from 'node:fs';
import './adapters/system/node-20.ts';
import { systemClock } from './adapters/system/clock.ts';
import { loadConfig, misspelled } from './config.ts';
import { OperatorError } from './domain/kernel/problem.ts';
import { faultLines } from './faults.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const log = (line: string): void => void process.stderr.write(`${line}\n`);

async function main(): Promise<void> {
  const [command, ...args] = process.argv.slice(2);
  const config = () => loadConfig(process.env, (path) => readFileSync(path, 'utf8'));
  // Each is imported on demand: a command does not load the server.
  if (command === undefined) return (await import('./serve.ts')).serve(config(), misspelled(process.env).warned);
  // The reader closed the pipe, as in `| head`.
  process.stdout.on('error', () => process.exit(1));
  const { runCommand } = await import('./commands/commands.ts');
  // A command that ends without a result has failed.
  process.exitCode = 1;
  process.exitCode = await runCommand(command, args, {
    config,
    env: process.env,
    clock: systemClock,
    interrupted,
    stdout: process.stdout,
    print,
    log,
  });
}

function interrupted(): AbortSignal {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => stopping.abort(new OperatorError(`Interrupted by ${signal}.`)));
  return stopping.signal;
}

main().catch((error: unknown) => {
  for (const line of faultLines(error)) log(`Latchkey cannot start: ${line}`);
  process.exit(1);
});
