import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type RunnerTestFile, type RunnerTestSuite, TestRunner } from 'vitest';
import {
  append,
  type Coverage,
  folderVariable,
  heartbeatOf,
  readLines,
  type Trial,
  type TryWith,
  versionOf,
  type Work,
} from './exchange.ts';
import { activate, install, record } from './switch.ts';
import { nameOf, runTests, testsOf } from './tests.ts';

install();

const folder = process.env[folderVariable] as string;
const coverageFile = join(folder, 'coverage.jsonl');
const trialsFile = join(folder, 'trials.jsonl');
const none = '';

/** Vitest collects a file's tests; this runner runs them, once per mutant. */
export default class MutantRunner extends TestRunner {
  async onBeforeRunFiles(files: RunnerTestFile[]): Promise<void> {
    const heartbeat = setInterval(() => writeFileSync(heartbeatOf(folder, process.pid), ''), 5000);
    const work = JSON.parse(readFileSync(join(folder, 'work.json'), 'utf8')) as Work;
    for (const file of files) {
      const path = relative(process.cwd(), file.filepath);
      const fault = file.result?.errors?.[0]?.message;
      if (fault !== undefined) console.error(`${path} could not be loaded: ${fault}`);
      else if (work.kind === 'cover') append(coverageFile, await cover(file, path));
      else await tryMutants(file, path, work.files[path] ?? []);
      skip(file);
    }
    clearInterval(heartbeat);
  }
}

function skip(suite: RunnerTestSuite): void {
  suite.mode = 'skip';
  for (const task of suite.tasks) {
    if (task.type === 'suite') skip(task);
    else task.mode = 'skip';
  }
}

/** Runs each test once, and records the mutants that it reaches. */
async function cover(file: RunnerTestFile, path: string): Promise<Coverage> {
  const tests = testsOf(file);
  const reached = tests.map(() => new Set<string>());
  const took = tests.map(() => 0);
  const begin = performance.now();
  const observe = (numbers: readonly number[]) => {
    const stop = record();
    const start = performance.now();
    return () => {
      for (const id of stop()) for (const number of numbers) reached[number]?.add(id);
      return performance.now() - start;
    };
  };
  const wanted = new Set(tests.keys());
  const ending = await runTests(file, wanted, () => 120_000, {
    test: (number) => {
      const done = observe([number]);
      return () => {
        took[number] = done();
      };
    },
    hook: observe,
    continues: true,
  });
  const { errors } = ending;
  const inTests = took.reduce((sum, one) => sum + one, 0);
  return {
    file: path,
    version: versionOf(file.filepath),
    around: Math.round(performance.now() - begin - inTests),
    tests: tests.map((test, number) => ({
      name: nameOf(test),
      took: Math.round(took[number] as number),
      failed: errors.get(number) ?? errors.get(-1) ?? null,
      ids: [...(reached[number] as Set<string>)],
    })),
  };
}

async function tryMutants(file: RunnerTestFile, path: string, mutants: readonly TryWith[]): Promise<void> {
  const coverage = readLines<Coverage>(coverageFile).find((one) => one.file === path);
  const names = testsOf(file).map(nameOf);
  // Generous, because a slow machine must not count as an endless loop.
  const timeoutOf = (number: number) =>
    coverage ? 15_000 + 10 * (coverage.tests[number]?.took ?? coverage.around) : 120_000;
  const alone = new Map<number, boolean>();
  let wildError = false;
  const onWildError = () => {
    wildError = true;
  };
  process.on('uncaughtException', onWildError);
  const run = async (id: string, wanted: Iterable<number>) => {
    wildError = false;
    activate(id);
    try {
      const ending = await runTests(file, new Set(wanted), timeoutOf);
      return wildError && ending.failed === undefined ? { ...ending, failed: -1 } : ending;
    } finally {
      activate(none);
    }
  };
  /** Whether a test passes alone: if not, its failure may be unrelated to the mutant. */
  const passesAlone = async (number: number) => {
    const known = alone.get(number) ?? (await run(none, [number])).failed === undefined;
    alone.set(number, known);
    return known;
  };
  /** Whether the tests are about as fast as when they were measured: a slow machine is not an endless loop. */
  const isQuiet = async (tests: readonly number[]) => {
    const usual = tests.reduce((sum, number) => sum + (coverage?.tests[number]?.took ?? 0), coverage?.around ?? 0);
    const start = performance.now();
    const { failed } = await run(none, tests);
    return failed === undefined && performance.now() - start < 2000 + 2 * usual;
  };
  const numbersOf = (part: string) => names.flatMap((name, number) => (name.includes(part) ? [number] : []));
  for (const { id, tests: wanted } of mutants) {
    if (isKilled(id)) continue;
    const tests = typeof wanted === 'string' ? numbersOf(wanted) : wanted;
    if (tests.length === 0) console.error(`${path} has no test whose name contains “${String(wanted)}”`);
    append(trialsFile, { id, file: path, began: Date.now(), pid: process.pid });
    const start = performance.now();
    let ending = await run(id, tests);
    const { failed } = ending;
    if (failed !== undefined && failed >= 0 && !(await passesAlone(failed))) {
      const upTo = Array.from({ length: failed + 1 }, (_, number) => number);
      ending = await run(id, upTo);
      // Not because of the mutant: the tests fail whenever they run a second time.
      if (ending.failed !== undefined && (await run(none, upTo)).failed !== undefined) ending = { errors: new Map() };
    }
    const isSure =
      !ending.timedOut || ((await isQuiet(tests)) && (await run(id, tests)).timedOut && (await isQuiet(tests)));
    const known = ending.timedOut ? 'timeout' : ending.failed === undefined ? 'survived' : 'killed';
    const outcome = isSure && tests.length > 0 ? known : 'unsure';
    const by = ending.failed === undefined ? {} : { by: names[ending.failed] ?? 'set-up' };
    append(trialsFile, { id, file: path, outcome, ...by, took: Math.round(performance.now() - start) });
  }
  process.off('uncaughtException', onWildError);
}

function isKilled(id: string): boolean {
  return readLines<Trial>(trialsFile).some(
    (line) => line.id === id && 'outcome' in line && /killed|timeout/.test(line.outcome),
  );
}
