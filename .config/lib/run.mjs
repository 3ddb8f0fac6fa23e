import { spawn } from 'node:child_process';
import { root, toolEnvironment } from './workspace.mjs';

/**
 * Runs a program.
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, capture?: boolean }} [options] capture: return the output instead of printing it
 * @returns {Promise<{ code: number, output: string, seconds: number }>} code 127 if it cannot be started
 */
export function run(program, args, { cwd = root, env = toolEnvironment(), capture = false } = {}) {
  const begin = performance.now();
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd,
      env,
      stdio: ['ignore', capture ? 'pipe' : 'inherit', capture ? 'pipe' : 'inherit'],
    });
    let output = '';
    const end = (code) => resolve({ code, output, seconds: (performance.now() - begin) / 1000 });
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', (error) => {
      output += `${program}: ${error.message}\n`;
      end(127);
    });
    child.on('close', (code, signal) => end(code ?? (signal === 'SIGINT' ? 130 : 1)));
  });
}

/** Prints a line every ten seconds while a silent task runs. */
export async function withHeartbeat(line, work, speak) {
  const begin = Date.now();
  const timer = setInterval(() => speak(`  ${line} (${Math.round((Date.now() - begin) / 1000)} s)`), 10_000);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
