import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** Variable with the folder through which the command and the test processes exchange data. */
export const folderVariable = 'LATCHKEY_MUTANTS';

export type Work =
  /** Records which mutants each test reaches. */
  | { kind: 'cover' }
  /** For each test file: mutants, and the indexes of the tests that reach them. */
  | { kind: 'try'; files: Record<string, { id: number; tests: number[] }[]> };

/** Coverage of a test file. */
export interface Coverage {
  file: string;
  /** Milliseconds outside the tests. */
  around: number;
  /** By index. `failed`: message of a failure without a mutant. `ids`: mutants reached. */
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
