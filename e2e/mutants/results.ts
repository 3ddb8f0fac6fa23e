import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { versionOf } from './exchange.ts';
import type { Mutant } from './instrument.ts';
import { folders } from './plan.ts';

export interface Result {
  /** `unreached`: no test runs the code. */
  outcome: 'killed' | 'survived' | 'timeout' | 'unreached';
  /** The test that failed. The result is valid while this test exists. */
  by?: { file: string; version: string; test: string };
  /** Test files that did not kill it, each with a hash of its text. */
  tried?: string[];
}

/** An accepted survivor: matched by its change, not its line. */
export interface Explanation {
  file: string;
  within: string;
  before: string;
  after: string;
  /** Reason. */
  why: string;
}

/** Killed mutants as committed: by outcome, test file with its hash, and test; ids separated by spaces. */
type Kills = Partial<Record<'killed' | 'timeout', Record<string, Record<string, string>>>>;

/**
 * Results by mutant id. Two files hold them: a local one with everything, so that an interrupted run resumes, and a
 * committed one with the killed mutants, so that a new checkout need not kill them again. A change costs only the results
 * of the functions and tests that it touches.
 */
export class Results {
  private readonly local: string;
  private readonly committed: string;
  private readonly known: Record<string, Result>;
  private readonly texts = new Map<string, { text: string; version: string } | undefined>();
  private readonly root: string;

  constructor(root: string, local: string, committed: string) {
    this.root = root;
    this.local = local;
    this.committed = committed;
    this.known = { ...readRecord(committed), ...readJson<Record<string, Result>>(local) };
  }

  of(mutant: Mutant): Result | undefined {
    const result = this.known[mutant.id];
    return result?.by && !this.isThere(result.by) ? undefined : result;
  }

  set({ id }: Mutant, result: Result): void {
    this.known[id] = result;
  }

  /** @param mutants all that exist: others are removed from the committed file */
  save(mutants: readonly Mutant[]): void {
    writeFileSync(this.local, JSON.stringify(this.known, null, 1));
    const record: Kills = {};
    for (const mutant of mutants.toSorted((one, other) => (one.id < other.id ? -1 : 1))) {
      const { outcome, by } = this.of(mutant) ?? {};
      if (!by || (outcome !== 'killed' && outcome !== 'timeout')) continue;
      const tests = ((record[outcome] ??= {})[`${by.file} ${by.version}`] ??= {});
      tests[by.test] = tests[by.test] ? `${tests[by.test]} ${mutant.id}` : mutant.id;
    }
    writeFileSync(this.committed, `${JSON.stringify(sorted(record), null, 2)}\n`);
  }

  /** Whether the test file is unchanged, or still has a test of this name. */
  private isThere({ file, version, test }: NonNullable<Result['by']>): boolean {
    const path = join(this.root, file);
    if (!this.texts.has(file)) {
      const found = existsSync(path) ? { text: readFileSync(path, 'utf8'), version: versionOf(path) } : undefined;
      this.texts.set(file, found);
    }
    const found = this.texts.get(file);
    const title = test.split(' > ').at(-1) as string;
    return found !== undefined && (found.version === version || hasTest(found.text, title));
  }
}

/** Whether the source of a test file has a test of this title: literally, or as a title of `it.each` with placeholders. */
export function hasTest(text: string, title: string): boolean {
  if ([`'${title}'`, `"${title}"`].some((literal) => text.includes(literal))) return true;
  const templates = text.match(/'[^'\n]*%[sdifj][^'\n]*'|"[^"\n]*%[sdifj][^"\n]*"/g) ?? [];
  return templates.some((template) => {
    const parts = template.slice(1, -1).split(/%[sdifj]/);
    // Placeholders alone fit every title.
    if (!/\w{3}/.test(parts.join(''))) return false;
    const pattern = parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.+');
    return new RegExp(`^${pattern}$`).test(title);
  });
}

function readJson<T>(path: string): T | undefined {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as T) : undefined;
}

function readRecord(path: string): Record<string, Result> {
  const results: Record<string, Result> = {};
  const record = readJson<Kills>(path) ?? {};
  for (const outcome of ['killed', 'timeout'] as const) {
    for (const [where, tests] of Object.entries(record[outcome] ?? {})) {
      const [file = '', version = ''] = where.split(' ');
      for (const [test, ids] of Object.entries(tests)) {
        for (const id of ids.split(' ')) results[id] = { outcome, by: { file, version, test } };
      }
    }
  }
  return results;
}

function sorted<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)])) as T;
}

export function readExplanations(path: string): Explanation[] {
  return JSON.parse(readFileSync(path, 'utf8')) as Explanation[];
}

export function isExplained(mutant: Mutant, explanations: readonly Explanation[]): boolean {
  return explanations.some(
    ({ file, within, before, after }) =>
      file === mutant.file && within === mutant.within && same(before, mutant.before) && same(after, mutant.after),
  );
}

/** Rules that explain survivors of one kind. */
const rules: { operator: string; before: RegExp; why: string }[] = [
  {
    operator: 'sql-true',
    before: /^(\w+\.)?project_id = (\$\{[^{}]+\}(::uuid)?|(\w+\.)?project_id)$/,
    why: 'Second guard: row-level security hides other projects in a request, and ids are unique over all projects.',
  },
];

/** The rule that explains a survivor; `server/test/isolation.test.ts` tests the assumption of the rule on projects. */
export function ruleFor({ operator, before }: Mutant): string | undefined {
  return rules.find((rule) => rule.operator === operator && rule.before.test(before.trim()))?.why;
}

const same = (one: string, other: string) => one.replace(/\s+/g, ' ').trim() === other.replace(/\s+/g, ' ').trim();

/** The open survivors, as text and as list, and a table of the figures per folder. */
export function report(
  mutants: readonly Mutant[],
  results: Results,
  explanations: readonly Explanation[],
): { text: string; table: string; unexplained: Mutant[] } {
  const stateOf = (mutant: Mutant) => {
    const outcome = results.of(mutant)?.outcome;
    if (outcome === 'killed' || outcome === 'timeout') return 'killed';
    if (isExplained(mutant, explanations)) return 'explained';
    if (outcome === undefined) return 'not tried';
    return ruleFor(mutant) === undefined ? 'open' : 'explained';
  };
  const row = (name: string, own: readonly Mutant[]) => {
    const counts = states.map((state) => own.filter((mutant) => stateOf(mutant) === state).length);
    return `| ${[name, own.length, ...counts].join(' | ')} |`;
  };
  const unexplained = mutants.filter((mutant) => stateOf(mutant) === 'open');
  const lines = unexplained.map((mutant) => {
    const outcome = results.of(mutant)?.outcome === 'unreached' ? ' (no test runs it)' : '';
    const { id, file, line, within, operator, before, after } = mutant;
    return `${id} ${file}:${line} ${within} ${operator}${outcome}\n    - ${shown(before)}\n    + ${shown(after)}`;
  });
  const table = [
    `| folder | mutants | ${states.join(' | ')} |`,
    `|---|---|${states.map(() => '---|').join('')}`,
    ...[...Map.groupBy(mutants, ({ file }) => folderOf(file))].map(([folder, own]) => row(folder, own)),
    row('all', mutants),
  ];
  return { text: [...lines, ''].join('\n'), table: table.join('\n'), unexplained };
}

const states = ['killed', 'explained', 'open', 'not tried'] as const;
const folderOf = (file: string) => folders.find((folder) => file.startsWith(`server/src/${folder}/`)) ?? '';
const shown = (text: string) => (text.trim() === '' ? '(nothing)' : text.replace(/\s+/g, ' ').slice(0, 240));
