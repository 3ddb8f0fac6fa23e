/**
 * `npm run chaos`: failure experiments against the production build with separate PostgreSQL servers. Prints a table of
 * pass criteria and results.
 *
 *     npm run chaos                          all, about 40 minutes
 *     npm run chaos -- database-stopped …    only these
 *     npm run chaos -- --scale=0.2           shorter and smaller
 *     npm run chaos -- --full                fuzz 10 minutes each, an hour of mixed load
 *     npm run chaos -- --list                lists the experiments, without running them
 *     npm run chaos -- --out=FILE            also writes the table to a file
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Experiment, Outcome } from './experiment.ts';
import { experiments } from './experiments.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    scale: { type: 'string', default: '1' },
    full: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const scale = Number(values.scale);
const unknown = positionals.filter((name) => !experiments.some((one) => one.name === name));
if (unknown.length > 0 || !(scale > 0)) {
  console.error(
    `Unknown experiment: ${unknown.join(', ')}. Available: ${experiments.map(({ name }) => name).join(', ')}`,
  );
  process.exit(2);
}
if (values.list) {
  for (const { name, done, passes } of experiments) console.log(`${name}\n  ${done}\n  passes: ${passes}`);
  process.exit(0);
}

const chosen = experiments.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const rows: { experiment: Experiment; outcome: Outcome; seconds: number }[] = [];
for (const experiment of chosen) {
  console.error(`── ${experiment.name}: ${experiment.done}`);
  const startedAt = performance.now();
  const log = (line: string) => console.error(`   ${line}`);
  const outcome = await experiment.run({ scale, full: values.full, log }).catch(
    (error: unknown): Outcome => ({
      verdict: 'fail',
      measured: 'aborted',
      faults: [String((error as Error).stack)],
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  rows.push({ experiment, outcome, seconds });
  console.error(`   ${outcome.verdict}: ${outcome.measured} (${seconds.toFixed(0)} s)`);
  for (const fault of outcome.faults?.slice(0, 5) ?? []) console.error(`   ✗ ${fault}`);
}

const lines = [
  '| experiment | fault | passes if | measured | |',
  '|---|---|---|---|---|',
  ...rows.map(({ experiment: { name, done, passes }, outcome: { verdict, measured } }) => {
    return `| ${[name, done, passes, measured, verdict].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  }),
];
console.log(lines.join('\n'));
if (values.out !== undefined) writeFileSync(values.out, `${lines.join('\n')}\n`);
const namesOf = (verdict: Outcome['verdict']) =>
  rows.filter(({ outcome }) => outcome.verdict === verdict).map(({ experiment }) => experiment.name);
const [passed, skipped, failed] = [namesOf('pass'), namesOf('skipped'), namesOf('fail')];
const counted = [`${passed.length} passed`];
if (skipped.length > 0) counted.push(`${skipped.length} skipped (${skipped.join(', ')})`);
if (failed.length > 0) counted.push(`${failed.length} failed (${failed.join(', ')})`);
console.log(`\n${counted.join(', ')}`);
process.exit(failed.length > 0 ? 1 : 0);
