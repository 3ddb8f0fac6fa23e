import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { versionOf } from './exchange.ts';
import type { Mutant } from './instrument.ts';

export interface Result {
  /** `unreached`: no test runs the code. */
  outcome: 'killed' | 'survived' | 'timeout' | 'unreached';
  /** The test that failed. The result is valid while its file is unchanged. */
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

/**
 * Results by mutant id, saved between runs: an interrupted run resumes, and a change costs only the results of the functions
 * and tests that it touches.
 */
export class Results {
  private readonly path: string;
  private readonly known: Record<string, Result>;
  private readonly versions = new Map<string, string | null>();
  private readonly root: string;

  constructor(root: string, path: string) {
    this.root = root;
    this.path = path;
    this.known = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Record<string, Result>) : {};
  }

  of(mutant: Mutant): Result | undefined {
    const result = this.known[mutant.id];
    return result?.by && this.versionOf(result.by.file) !== result.by.version ? undefined : result;
  }

  set({ id }: Mutant, result: Result): void {
    this.known[id] = result;
  }

  save(): void {
    writeFileSync(this.path, JSON.stringify(this.known, null, 1));
  }

  private versionOf(file: string): string | null {
    const path = join(this.root, file);
    const version = this.versions.get(file) ?? (existsSync(path) ? versionOf(path) : null);
    this.versions.set(file, version);
    return version;
  }
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

const same = (one: string, other: string) => one.replace(/\s+/g, ' ').trim() === other.replace(/\s+/g, ' ').trim();

/** The table, and the survivors without an explanation. */
export function report(
  mutants: readonly Mutant[],
  results: Results,
  explanations: readonly Explanation[],
): { text: string; unexplained: Mutant[] } {
  const folders = [...new Set(mutants.map(({ file }) => folderOf(file)))];
  const count = (own: readonly Mutant[], outcome: Result['outcome'] | undefined) =>
    own.filter((mutant) => results.of(mutant)?.outcome === outcome).length;
  const row = (name: string, own: readonly Mutant[]) => {
    const alive = own.filter((mutant) => isAlive(results.of(mutant)));
    const explained = alive.filter((mutant) => isExplained(mutant, explanations)).length;
    const numbers = [
      own.length,
      count(own, 'killed'),
      count(own, 'timeout'),
      alive.length,
      explained,
      count(own, undefined),
    ];
    return `| ${[name, ...numbers].join(' | ')} |`;
  };
  const unexplained = mutants.filter((mutant) => isAlive(results.of(mutant)) && !isExplained(mutant, explanations));
  const lines = unexplained.map((mutant) => {
    const outcome = results.of(mutant)?.outcome === 'unreached' ? ' (no test runs it)' : '';
    const { file, line, within, operator, before, after } = mutant;
    return `${file}:${line} ${within} ${operator}${outcome}\n    - ${shown(before)}\n    + ${shown(after)}`;
  });
  const table = [
    '| folder | mutants | killed | timeouts | survived | of these explained | not tried |',
    '|---|---|---|---|---|---|---|',
    ...folders.map((folder) =>
      row(
        folder,
        mutants.filter(({ file }) => folderOf(file) === folder),
      ),
    ),
    row('all', mutants),
  ];
  return { text: [...lines, '', ...table].join('\n'), unexplained };
}

const isAlive = (result: Result | undefined) => result?.outcome === 'survived' || result?.outcome === 'unreached';
const folderOf = (file: string) => file.split('/')[3] ?? '';
const shown = (text: string) => (text.trim() === '' ? '(nothing)' : text.replace(/\s+/g, ' ').slice(0, 240));
