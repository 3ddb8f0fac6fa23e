import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** Where the command and the processes that run tests leave each other word: a folder, by this variable. */
export const folderVariable = 'LATCHKEY_MUTANTS';

export type Work =
  /** Notes which mutants each test reaches. */
  | { kind: 'cover' }
  /** For each test file: mutants, and the tests (by number) that reach them. */
  | { kind: 'try'; files: Record<string, { id: number; tests: number[] }[]> };

/** What a test file reaches. */
export interface Coverage {
  file: string;
  /** Milliseconds of what comes before and after the tests. */
  around: number;
  /** By number. `failed`: the message of its failure without any mutant. `ids`: the mutants. */
  tests: { name: string; took: number; failed: string | null; ids: number[] }[];
}

export type Trial =
  | { id: number; file: string; began: number; pid: number }
  | { id: number; file: string; outcome: 'survived' | 'killed' | 'timeout'; by?: string; took: number };

export function append(path: string, line: Coverage | Trial): void {
  appendFileSync(path, `${JSON.stringify(line)}\n`);
}

export function readLines<T>(path: string): T[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T);
}
