import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Variable with the folder through which the command and the test processes exchange data. */
export const folderVariable = 'LATCHKEY_MUTANTS';

export type Work =
  /** Records which mutants each test reaches. */
  { kind: 'cover' } | { kind: 'try'; files: Record<string, TryWith[]> };

/** A mutant, and the tests of a file to try it with: their indexes, or a part of their names. */
export interface TryWith {
  id: string;
  tests: number[] | string;
}

/** Coverage of a test file. */
export interface Coverage {
  file: string;
  /** Hash of its text. */
  version: string;
  /** Milliseconds outside the tests. */
  around: number;
  /** By index. `failed`: message of a failure without a mutant. `ids`: mutants reached. */
  tests: { name: string; took: number; failed: string | null; ids: string[] }[];
}

/** `unsure`: the tests were too slow, also without the mutant. */
export type Trial =
  | { id: string; file: string; began: number; pid: number }
  | { id: string; file: string; outcome: 'survived' | 'killed' | 'timeout' | 'unsure'; by?: string; took: number };

/** A hash of a test file's text: a changed test may kill a mutant that the earlier one did not, or no longer kill it. */
export function versionOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 8);
}

/** File that a test process touches while it is not stuck in a synchronous loop. */
export function heartbeatOf(folder: string, pid: number): string {
  return join(folder, `heartbeat-${pid}`);
}

export function append(path: string, line: Coverage | Trial): void {
  appendFileSync(path, `${JSON.stringify(line)}\n`);
}

export function readLines<T>(path: string): T[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T);
}
