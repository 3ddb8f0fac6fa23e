/**
 * `npm run mutants`: mutation tests of security code. A surviving mutant is a condition that no test needs. Exits with 1 if a
 * survivor has no explanation in EXPLAINED.json.
 *
 *     npm run mutants                              all not yet killed (KILLED.json); resumes an interrupted run
 *     npm run mutants -- --only domain/admins      only files whose path contains this, or this mutant; repeatable
 *     npm run mutants -- --since main              only lines changed since
 *     npm run mutants -- --sample 200 --seed 7     a random sample, stable per seed
 *     npm run mutants -- --budget 60               seconds of tests per mutant (default 30)
 *     npm run mutants -- --tests server/src/admin  only test files whose path contains this; repeatable
 *     npm run mutants -- --try "ID FILE > TEST"    one mutant with the tests of a file whose names contain this, at any
 *                                                  cost; repeatable. Without `> TEST`: with all of the file
 *     npm run mutants -- --workers 1               test processes at once (default 2)
 *     npm run mutants -- --fresh                   also mutants killed before
 *     npm run mutants -- --list                    lists mutants with their known results, without running tests
 */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { append, type Coverage, readLines, type Trial, type TryWith, versionOf } from './exchange.ts';
import { instrument, type Mutant } from './instrument.ts';
import { type Attempt, attempted, type Chance, folders, parseAttempt, plan, sample } from './plan.ts';
import { isExplained, Results, readExplanations, report } from './results.ts';
import { runWork } from './trial.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    tests: { type: 'string', multiple: true },
    since: { type: 'string' },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    budget: { type: 'string', default: '30' },
    try: { type: 'string', multiple: true },
    workers: { type: 'string', default: '2' },
    fresh: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'test-results/mutants');
const trialsPath = join(folder, 'trials.jsonl');
const workers = Number(values.workers);
const attempts: Attempt[] | undefined = values.try?.map(parseAttempt);
/** Without views, whose conditions decide only how a page looks. */
const sourceFiles = globSync(`server/src/{${folders.join()}}/**/*.ts`, { cwd: root })
  .filter((path) => !/(\.(test|entity)|\bview)\.ts$/.test(path))
  .toSorted();
/** Excludes tests that spawn processes, which have no mutants, and tests that take minutes. */
const testFiles = globSync('server/src/**/*.test.ts', { cwd: root })
  .filter((path) => !/\/(adapters|commands|http)\/|walk\.test|fuzz\.test|config\.test/.test(path))
  .filter((path) => !values.tests || values.tests.some((part) => path.includes(part)))
  .filter((path) => !attempts || attempts.some(({ file }) => file === path))
  .toSorted();

// Hundreds of databases: use memory if available.
if (!process.env['TMPDIR'] && existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm';
process.chdir(root);
mkdirSync(folder, { recursive: true });

const { mutants, sources } = instrument(root, sourceFiles);
const results = new Results(root, join(folder, 'results.json'), join(import.meta.dirname, 'KILLED.json'));
const chosen = choose(mutants);
const explanations = readExplanations(join(import.meta.dirname, 'EXPLAINED.json'));
if (values.list) {
  for (const mutant of chosen) {
    const { id, file, line, operator, before, after } = mutant;
    const state = results.of(mutant)?.outcome ?? (isExplained(mutant, explanations) ? 'explained' : 'not tried');
    console.log(`${id} ${state} ${file}:${line} ${operator}: ${oneLine(before)} → ${oneLine(after)}`);
  }
  console.log(`\n${report(chosen, results, explanations).table}`);
} else {
  const begin = performance.now();
  await tryAll(chosen.filter((mutant) => values.fresh || !isDead(results.of(mutant)?.outcome)));
  const { text, table, unexplained } = report(chosen, results, explanations);
  console.log(`${text}\n${table}`);
  const stale = explanations.filter((one) => !mutants.some((mutant) => isExplained(mutant, [one])));
  for (const { file, within, before } of stale) console.log(`Explains no mutant: ${file} ${within} ${oneLine(before)}`);
  console.log(`\nTook ${Math.round((performance.now() - begin) / 1000)} s. Results: ${join(folder, 'results.json')}`);
  console.log(
    unexplained.length === 0
      ? 'Every survivor is explained.'
      : `${unexplained.length} survivors without an explanation.`,
  );
  process.exitCode = unexplained.length === 0 ? 0 : 1;
}

function choose(all: readonly Mutant[]): Mutant[] {
  const lines = values.since === undefined ? undefined : changedLines(values.since);
  const wanted = all.filter(
    ({ id, file, line }) =>
      (!attempts || attempts.some((attempt) => attempt.id === id)) &&
      (!values.only || values.only.some((part) => part === id || file.includes(part))) &&
      (!lines || lines.has(`${file}:${line}`)),
  );
  return values.sample === undefined ? wanted : sample(wanted, Number(values.sample), Number(values.seed));
}

/** Changed lines since a revision, as `file:line`. */
function changedLines(revision: string): Set<string> {
  const diff = execFileSync('git', ['diff', '--unified=0', revision, '--', 'server/src'], {
    cwd: root,
    encoding: 'utf8',
  });
  const lines = new Set<string>();
  let file = '';
  for (const line of diff.split('\n')) {
    file = /^\+\+\+ b\/(.*)/.exec(line)?.[1] ?? file;
    const [, first, count] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    for (let at = 0; first !== undefined && at < Number(count ?? 1); at += 1)
      lines.add(`${file}:${Number(first) + at}`);
  }
  return lines;
}

async function tryAll(todo: readonly Mutant[]): Promise<void> {
  if (todo.length === 0) return;
  const chances = attempts ? attempted(attempts) : plan(mutants, await cover(), Number(values.budget) * 1000);
  for (const mutant of todo) {
    // With a part of the test files only, others may reach it.
    if (!chances.has(mutant.id) && !values.tests) results.set(mutant, { outcome: 'unreached' });
  }
  let alive = todo.filter(({ id }) => chances.has(id));
  // The likeliest test file of each mutant first, then others for survivors.
  for (const [from, to] of [
    [0, 1],
    [1, 3],
    [3, 8],
    [8, Number.POSITIVE_INFINITY],
  ] as const) {
    const timer = setInterval(() => note(alive, endedTrials()), 60_000);
    const trials = await tryRound(alive, (id) => (chances.get(id) ?? []).slice(from, to)).finally(() =>
      clearInterval(timer),
    );
    note(alive, trials);
    alive = alive.filter((mutant) => !isDead(results.of(mutant)?.outcome));
    if (alive.length === 0) break;
    console.error(`${todo.length - alive.length} of ${todo.length} killed`);
  }
}

type Ended = Extract<Trial, { outcome: string }>;

/** Saves the outcome of each mutant with a trial. Also called during a round, so that an interrupted run resumes. */
function note(alive: readonly Mutant[], trials: readonly Ended[]): void {
  const byMutant = Map.groupBy(trials, ({ id }) => id);
  for (const mutant of alive) {
    const own = byMutant.get(mutant.id) ?? [];
    const survived = own.filter(({ outcome }) => outcome === 'survived');
    const end = own.find(({ outcome }) => isDead(outcome)) ?? survived[0];
    if (!end || end.outcome === 'unsure') continue;
    const { file, by: test = 'set-up' } = end;
    results.set(mutant, {
      outcome: end.outcome,
      ...(isDead(end.outcome) && { by: { file, version: versionOf(file), test } }),
      tried: [...new Set([...triedOf(mutant), ...survived.map((one) => versioned(one.file))])],
    });
  }
  results.save(mutants);
}

/** Versions of test files that a mutant survived in an earlier round or run. */
function triedOf(mutant: Mutant): string[] {
  return results.of(mutant)?.tried ?? [];
}

function versioned(file: string): string {
  return `${file} ${versionOf(file)}`;
}

function endedTrials(): Ended[] {
  return readLines<Trial>(trialsPath).filter((line): line is Ended => 'outcome' in line);
}

async function tryRound(alive: readonly Mutant[], chancesOf: (id: string) => Chance[]): Promise<Ended[]> {
  rmSync(trialsPath, { force: true });
  // Repeat for the remaining mutants of a process that hung.
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const before = endedTrials();
    const done = new Set(before.map(({ id, file }) => `${id} ${file}`));
    const dead = new Set(before.filter(({ outcome }) => isDead(outcome)).map(({ id }) => id));
    const files: Record<string, TryWith[]> = {};
    for (const mutant of alive.filter(({ id }) => !dead.has(id))) {
      const { id } = mutant;
      const tried = values.fresh || attempts ? [] : triedOf(mutant);
      for (const { file, tests } of chancesOf(id)) {
        if (!done.has(`${id} ${file}`) && !tried.includes(versioned(file))) (files[file] ??= []).push({ id, tests });
      }
    }
    if (Object.keys(files).length === 0) break;
    const count = Object.values(files).reduce((sum, list) => sum + list.length, 0);
    console.error(`${count} trials in ${Object.keys(files).length} test files …`);
    await runWork({ root, folder, sources, workers }, Object.keys(files), { kind: 'try', files });
  }
  return endedTrials();
}

/** Coverage per test; kept while its test file and all functions that it reaches are unchanged. */
async function cover(): Promise<Coverage[]> {
  const path = join(folder, 'coverage.jsonl');
  const ids = new Set(mutants.map(({ id }) => id));
  const isCurrent = ({ file, version, tests }: Coverage) =>
    existsSync(file) &&
    version === versionOf(file) &&
    tests.every((test) => test.failed === null && test.ids.every((id) => ids.has(id)));
  const kept = readLines<Coverage>(path).filter(isCurrent);
  const missing = testFiles.filter((file) => !kept.some((one) => one.file === file));
  if (missing.length > 0) {
    console.error(`Which tests reach which mutants: ${missing.length} test files …`);
    rmSync(path, { force: true });
    for (const one of kept) append(path, one);
    await runWork({ root, folder, sources, workers }, missing, { kind: 'cover' });
  }
  const coverage = readLines<Coverage>(path).filter(({ file }) => testFiles.includes(file));
  const failed = coverage.flatMap(({ file, tests }) =>
    tests
      .filter((test) => test.failed)
      .map(({ name, failed: why }) => `${file}: ${name}: ${oneLine(why ?? '').slice(0, 200)}`),
  );
  if (failed.length > 0) console.error(`Excluded, because they fail without a mutant:\n${failed.join('\n')}`);
  const lost = testFiles.filter((file) => !coverage.some((one) => one.file === file));
  if (lost.length > 0) console.error(`Failed to load: ${lost.join(', ')}`);
  return coverage;
}

function isDead(outcome: string | undefined): boolean {
  return outcome === 'killed' || outcome === 'timeout';
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}
