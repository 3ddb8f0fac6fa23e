/**
 * `npm test`: runs all gates and tests, from a bare clone; the last line has the counts. Gates also run after a
 * failure. `npm test -- <filter>` runs only the matching test files, and no gates.
 */
import { mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBrowser, fontSettings } from './browser.mjs';
import { ensureBuilt } from './lib/build.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { run } from './lib/run.mjs';
import { print, projectNode, requireNode20, tool, toolEnvironment } from './lib/workspace.mjs';

requireNode20();
await ensureInstalled();

const reports = mkdtempSync(join(tmpdir(), 'latchkey-reports-'));
const count = { passed: 0, failed: 0 };
const failures = [];
/** Failed and retried tests, repeated at the end, because long logs get cut. */
const remarks = [];
const filter = process.argv.slice(2);

const begin = performance.now();
if (filter.length === 0) {
  await gates();
  await unitTests();
  await browserTests();
} else {
  const forBrowser = filter.some((word) => /spec|e2e/.test(word));
  if (forBrowser) await builtAndBrowserTests();
  // Servers in unit tests read the built pages. An outdated build is enough: most edits of a test need none.
  else if ((await ensureBuilt({ missing: true })) === undefined) await unitTests();
  else verdict('Build', false, '0 s');
}
rmSync(reports, { recursive: true });
for (const remark of remarks) console.log(`\n${remark}`);
console.log(`\n${failures.length > 0 ? `Failed: ${failures.join(', ')}. ` : ''}Took ${seconds(begin)}.`);
console.log(`${count.passed} passed, ${count.failed} failed`);
process.exitCode = count.failed > 0 ? 1 : 0;

/** Static checks: run in parallel, reported in order. */
async function gates() {
  const sources = ['server/src', 'server/test', 'shared', 'console', 'e2e'];
  const work = [
    ['Format (biome)', [tool('biome'), ['check', '.']]],
    ['Lint (oxlint)', [tool('oxlint'), ['.']]],
    ['Import rules (dependency-cruiser)', [tool('depcruise'), ['--output-type', 'err-long', ...sources]]],
    ['Unused exports, files and dependencies (knip)', [tool('knip'), []]],
    ['Time, randomness and settings through ports', [projectNode(), ['.config/invariants.mjs']]],
    ['Types (tsc)', [tool('tsc'), ['-b']]],
  ].map(([name, [program, args]]) => [name, run(program, args, { capture: true })]);
  for (const [name, result] of work) {
    const { code, output, seconds: took } = await result;
    heading(name);
    if (code !== 0) process.stdout.write(output);
    verdict(name, code === 0, `${took.toFixed(1)} s`);
  }
  await gate('Build', async () => (await ensureBuilt()) === undefined);
  await gate('Generated files', async () => {
    const { code, output } = await run(projectNode(), ['.config/gen.mjs', '--check'], { capture: true });
    process.stdout.write(output);
    return code === 0;
  });
}

async function unitTests() {
  const name = 'Unit and protocol tests (vitest)';
  heading(name);
  const file = join(reports, 'vitest.json');
  const outside = join(reports, 'outside.json');
  const reporters = ['default', 'json', '.config/lib/vitest-outside.mjs'].map((reporter) => `--reporter=${reporter}`);
  const result = await vitest([...reporters, `--outputFile.json=${file}`, ...filter], {
    LATCHKEY_TEST_OUTSIDE: outside,
  });
  const report = readReport(file, { numPassedTests: 0, numFailedTests: 0, testResults: [], success: false });
  const errors = readReport(outside, []);
  // As a failed test gets a retry, so does a file with an error outside of its tests.
  const isForgiven = report.success && errors.length > 0 && (await passAgain(errors.map((error) => error.file)));
  remarks.push(
    ...vitestRemarks(report.testResults),
    ...errors.map(({ file: path = name, text }) => remarkOn(!isForgiven, `${path} › outside of its tests`, text)),
  );
  record(name, { ...result, code: isForgiven ? 0 : result.code }, report.numPassedTests, report.numFailedTests);
}

function vitest(args, env = {}) {
  const command = ['run', '--config', '.config/vitest.config.ts', ...args];
  return run(tool('vitest'), command, { env: toolEnvironment(env) });
}

async function passAgain(files) {
  if (files.includes(undefined)) return false;
  heading('Once more: files with errors outside of their tests');
  return (await vitest([...new Set(files)])).code === 0;
}

async function builtAndBrowserTests() {
  // Also builds the SDKs, which the tests import.
  await gate('Types (tsc)', async () => (await run(tool('tsc'), ['-b'])).code === 0);
  await gate('Build', async () => (await ensureBuilt()) === undefined);
  await browserTests();
}

async function browserTests() {
  const name = 'Browser tests (Playwright)';
  let browser;
  try {
    browser = await findBrowser();
  } catch (error) {
    heading(name);
    print(error.message);
    return verdict(name, false, '0 s');
  }
  const file = join(reports, 'playwright.json');
  const env = {
    ...(await fontSettings()),
    LATCHKEY_BROWSER: browser,
    PLAYWRIGHT_JSON_OUTPUT_FILE: file,
    TMPDIR: temporaryFolder(),
  };
  const args = ['test', '--config', 'e2e/playwright.config.ts', '--reporter=list,json', ...filter];
  heading(name);
  const result = await run(tool('playwright'), args, { env: toolEnvironment(env) });
  const { stats, suites } = readReport(file, { stats: { expected: 0, flaky: 0, unexpected: 0 }, suites: [] });
  remarks.push(...suites.flatMap(playwrightRemarks));
  record(name, result, stats.expected + stats.flaky, stats.unexpected);
}

/** Memory if it has 4 GiB free: each spec creates a database, and a slow disk must not fail a test. TMPDIR overrides it. */
function temporaryFolder() {
  if (process.env['TMPDIR']) return tmpdir();
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize >= 4 * 2 ** 30 ? '/dev/shm' : tmpdir();
  } catch {
    return tmpdir();
  }
}

function record(name, { code, seconds: took }, passed, failed) {
  count.passed += passed;
  count.failed += failed;
  // A file that fails to load, or a failed setup, counts as a failure although it is not a test.
  if (code !== 0 && failed === 0) {
    count.failed += 1;
    remarks.push(`Failed: ${name} ended with code ${code}, without a failed test.`);
  }
  if (code !== 0) failures.push(name);
  console.log(`${code === 0 ? '✓' : '✗'} ${name}: ${passed} passed, ${failed} failed, ${took.toFixed(1)} s`);
}

/** Failed tests with their first error, and tests that needed a retry. */
function vitestRemarks(files) {
  return files.flatMap(({ name: path, status, message, assertionResults }) => {
    const tests = assertionResults.filter((test) => test.failureMessages?.length > 0);
    if (tests.length === 0) return status === 'failed' ? [`Failed: ${path}\n${firstLines(message)}`] : [];
    return tests.map((test) =>
      remarkOn(test.status === 'failed', `${path} › ${test.fullName}`, test.failureMessages[0]),
    );
  });
}

function playwrightRemarks({ file, suites = [], specs = [] }) {
  const tests = specs.flatMap(({ title, tests: runs }) =>
    runs
      .filter(({ status }) => status === 'unexpected' || status === 'flaky')
      .map(({ status, results }) => {
        const error = results.find((result) => result.error)?.error.message;
        return remarkOn(status === 'unexpected', `${file} › ${title}`, error);
      }),
  );
  return [...tests, ...suites.flatMap(playwrightRemarks)];
}

function remarkOn(isFailed, name, error = '') {
  return `${isFailed ? 'Failed' : 'Passed only on retry, which is a defect'}: ${name}\n${firstLines(error)}`;
}

function firstLines(text) {
  return text.split('\n').slice(0, 12).join('\n');
}

/** Content of a report file, or the default if the tool did not write it. */
function readReport(file, absent) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return absent;
  }
}

async function gate(name, work) {
  heading(name);
  const start = performance.now();
  verdict(name, await work(), seconds(start));
}

function heading(name) {
  console.log(`\n── ${name}`);
}

function verdict(name, isGood, took) {
  count[isGood ? 'passed' : 'failed'] += 1;
  if (!isGood) failures.push(name);
  console.log(`${isGood ? '✓' : '✗'} ${name} (${took})`);
}

function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
