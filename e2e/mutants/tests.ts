import type { RunnerTestCase, RunnerTestFile, RunnerTestSuite } from 'vitest';
import { TestRunner } from 'vitest';

/** Result of running some tests of a file. */
export interface Ending {
  /** Index of the failed test; -1: outside the tests. Undefined: none. */
  failed?: number;
  timedOut?: boolean;
  /** Error message per test index. */
  errors: Map<number, string>;
}

export interface Observer {
  /** Wraps each test with its hooks. */
  test?(number: number): () => void;
  /** Continues after a failure. */
  continues?: boolean;
  /** Wraps each suite hook; `numbers` are the tests that depend on it. */
  hook?(numbers: readonly number[]): () => void;
}

type Hook = (...args: unknown[]) => unknown;

/** All tests of a file in order; the index is the test's number. */
export function testsOf(suite: RunnerTestSuite): RunnerTestCase[] {
  return suite.tasks
    .flatMap((task) => (task.type === 'suite' ? testsOf(task) : [task]))
    .filter(({ mode }) => mode === 'run');
}

export function nameOf(test: RunnerTestCase): string {
  const names: string[] = [];
  for (let task: RunnerTestCase | RunnerTestSuite | undefined = test; task && task !== test.file; task = task.suite) {
    names.unshift(task.name);
  }
  return names.join(' > ');
}

/**
 * Runs some tests of a collected file with their hooks, up to the first failure. Repeatable, unlike Vitest's own run.
 *
 * @param timeoutOf timeout per test and hook in milliseconds
 */
export async function runTests(
  file: RunnerTestFile,
  wanted: ReadonlySet<number>,
  timeoutOf: (number: number) => number,
  observer: Observer = {},
): Promise<Ending> {
  const numbers = new Map(testsOf(file).map((test, number) => [test, number]));
  const ending: Ending = { errors: new Map() };

  const fail = (number: number, error: unknown) => {
    ending.failed ??= number;
    ending.errors.set(number, error instanceof Error ? error.message : String(error));
    if (error instanceof OutOfTime) ending.timedOut = true;
  };

  const runSuite = async (suite: RunnerTestSuite): Promise<void> => {
    const inside = testsOf(suite)
      .map((test) => numbers.get(test) as number)
      .filter((number) => wanted.has(number));
    if (inside.length === 0) return;
    const hooks = TestRunner.getSuiteHooks(suite) as unknown as Record<string, Hook[]>;
    const cleanUps: unknown[] = [];
    const around = async (list: readonly unknown[]) => {
      const done = observer.hook?.(inside);
      try {
        for (const hook of list) {
          if (typeof hook === 'function') cleanUps.push(await inTime(() => (hook as Hook)(suite), timeoutOf(-1)));
        }
      } catch (error) {
        fail(-1, error);
      } finally {
        done?.();
      }
    };
    await around(hooks['beforeAll'] ?? []);
    for (const task of suite.tasks) {
      if (ending.failed !== undefined && !observer.continues) break;
      if (task.type === 'suite') await runSuite(task);
      else await runTest(task);
    }
    const after = (hooks['afterAll'] ?? []).toReversed();
    await around([...after, ...cleanUps.toReversed()]);
  };

  const runTest = async (test: RunnerTestCase): Promise<void> => {
    const number = numbers.get(test);
    if (number === undefined || !wanted.has(number)) return;
    const done = observer.test?.(number);
    const cleanUps: unknown[] = [];
    const act = async (hook: unknown) => {
      if (typeof hook === 'function')
        await inTime(async () => hook(test.context, test.suite ?? file), timeoutOf(number));
    };
    try {
      for (const hook of inherited(test, 'beforeEach')) {
        cleanUps.push(await inTime(async () => hook(test.context, test.suite ?? file), timeoutOf(number)));
      }
      const body = TestRunner.getTestFn(test);
      await inTime(async () => body(), timeoutOf(number));
    } catch (error) {
      fail(number, error);
    }
    const after = [...inherited(test, 'afterEach').toReversed(), ...cleanUps.toReversed()];
    for (const hook of after) await act(hook).catch((error: unknown) => fail(number, error));
    done?.();
  };

  await runSuite(file);
  return ending;
}

/** Hooks of all suites around a test, outermost first. */
function inherited(test: RunnerTestCase, name: string): Hook[] {
  const hooks: Hook[] = [];
  for (
    let suite: RunnerTestSuite | undefined = test.suite ?? test.file;
    suite;
    suite = suite === test.file ? undefined : (suite.suite ?? test.file)
  ) {
    hooks.unshift(...((TestRunner.getSuiteHooks(suite) as unknown as Record<string, Hook[]>)[name] ?? []));
  }
  return hooks;
}

class OutOfTime extends Error {}

async function inTime<T>(work: () => T | Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new OutOfTime()), milliseconds);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
