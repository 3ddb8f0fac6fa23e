import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Plugin } from 'vite';
import type { ViteUserConfig } from 'vitest/config';
import { startVitest } from 'vitest/node';
import { append, folderVariable, heartbeatOf, readLines, type Trial, type Work } from './exchange.ts';
import { install } from './switch.ts';

/** A process without a heartbeat for this long is stuck in a synchronous loop. */
const stuckMilliseconds = 240_000;

export interface Bench {
  root: string;
  /** Folder in which the command and its test processes exchange data. */
  folder: string;
  sources: ReadonlyMap<string, string>;
  /** Test processes at once. */
  workers: number;
}

/** Runs test files with instrumented sources and their work (`runner.ts`). */
export async function runWork(
  { root, folder, sources, workers }: Bench,
  files: readonly string[],
  work: Work,
): Promise<void> {
  // The global set-up, which runs here, imports instrumented code, too.
  install();
  writeFileSync(join(folder, 'work.json'), JSON.stringify(work));
  process.env[folderVariable] = folder;
  const path = join(root, '.config/vitest.config.ts');
  const { default: config } = (await import(path)) as { default: ViteUserConfig };
  const project = config.test?.projects?.[0];
  if (typeof project !== 'object' || !('test' in project)) throw new Error(`${path}: its first project is not a table`);
  const watch = setInterval(() => endStuck(folder), 10_000);
  try {
    const vitest = await startVitest(
      'test',
      [],
      {
        config: false,
        root,
        watch: false,
        disableConsoleIntercept: true,
        reporters: [{}],
        pool: 'forks',
        maxWorkers: workers,
        // Importing the server takes longer than most tests, and tests share no module state.
        isolate: false,
        passWithNoTests: true,
        include: [...files],
        globalSetup: project.test?.globalSetup as string[],
        runner: join(import.meta.dirname, 'runner.ts'),
        testTimeout: 120_000,
        hookTimeout: 120_000,
        dangerouslyIgnoreUnhandledErrors: true,
      },
      {
        ...('resolve' in project && { resolve: project.resolve }),
        ...('oxc' in project && { oxc: project.oxc }),
        plugins: [instrumented(root, sources)],
      },
    );
    await vitest.close();
  } finally {
    clearInterval(watch);
    process.exitCode = 0;
  }
}

function instrumented(root: string, sources: ReadonlyMap<string, string>): Plugin {
  const sourceOf = (id: string) => sources.get(relative(root, id.split('?')[0] as string));
  return {
    name: 'mutants',
    enforce: 'pre',
    transform: (_code, id) => sourceOf(id) ?? null,
    // Vitest caches modules by original source, which can be instrumented differently now.
    configureVitest: ({ defineCacheKeyGenerator }) => defineCacheKeyGenerator(({ id }) => sourceOf(id)),
  };
}

function endStuck(folder: string): void {
  const path = join(folder, 'trials.jsonl');
  if (!existsSync(path)) return;
  const lines = readLines<Trial>(path);
  const ended = new Set(lines.flatMap((line) => ('outcome' in line ? [`${line.id} ${line.file}`] : [])));
  for (const line of lines) {
    if (!('began' in line) || ended.has(`${line.id} ${line.file}`)) continue;
    const heartbeat = heartbeatOf(folder, line.pid);
    const last = Math.max(line.began, existsSync(heartbeat) ? statSync(heartbeat).mtimeMs : 0);
    if (Date.now() - last < stuckMilliseconds) continue;
    append(path, { id: line.id, file: line.file, outcome: 'timeout', took: Date.now() - line.began });
    try {
      process.kill(line.pid, 'SIGKILL');
    } catch {
      // Already exited.
    }
    rmSync(heartbeat, { force: true });
  }
}
