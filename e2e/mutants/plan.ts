import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import type { Coverage } from './exchange.ts';
import type { Mutant } from './instrument.ts';

/** Folders of `server/src` that decide authentication and authorization. */
export const folders = [
  'domain/policy',
  'domain/organizations',
  'domain/connections',
  'domain/domains',
  'domain/portal',
  'domain/saml',
  'connect',
  'domain/ceremonies',
  'domain/otp',
  'domain/credentials',
  'domain/mfa',
  'domain/sessions',
  'domain/tokens',
  'domain/consents',
  'domain/contacts',
  'domain/admins',
  'domain/accounts',
  'domain/users/edits',
  'account',
] as const;

/** A test file that can kill a mutant, with the tests that reach it and their cost. */
export interface Chance {
  file: string;
  /** Their indexes, or a part of their names. */
  tests: number[] | string;
  milliseconds: number;
}

/**
 * Test files per mutant: nearest to its source and most focused first, as many as fit the budget and at least one. Of
 * slow files, only the fast tests.
 *
 * @param budget milliseconds per mutant
 */
export function plan(mutants: readonly Mutant[], coverage: readonly Coverage[], budget: number): Map<string, Chance[]> {
  const sourceOf = new Map(mutants.map(({ id, file }) => [id, file]));
  const sizes = Map.groupBy(mutants, ({ file }) => file);
  const unread = unreadConstants(mutants, coverage);
  const chances = new Map<string, { chance: Chance; focus: number }[]>();
  for (const { file, around, tests } of coverage) {
    const reached = new Map<string, number[]>();
    tests.forEach(({ ids, failed }, number) => {
      const own = new Set(failed === null ? ids : []);
      for (const source of new Set([...own].map((id) => sourceOf.get(id)))) {
        for (const id of unread.get(source ?? '') ?? []) own.add(id);
      }
      for (const id of own) reached.set(id, [...(reached.get(id) ?? []), number]);
    });
    const perSource = new Map<string, number>();
    for (const id of reached.keys()) {
      const source = sourceOf.get(id);
      if (source !== undefined) perSource.set(source, (perSource.get(source) ?? 0) + 1);
    }
    for (const [id, numbers] of reached) {
      const source = sourceOf.get(id);
      if (source === undefined) continue;
      const own = perSource.get(source) ?? 0;
      const focus = nearness(source, file) + (own / reached.size) * (own / (sizes.get(source)?.length ?? own));
      const chance = chanceOf(
        file,
        around,
        numbers.map((number) => ({ number, took: tests[number]?.took ?? 0 })),
        budget,
      );
      chances.set(id, [...(chances.get(id) ?? []), { chance, focus }]);
    }
  }
  return new Map([...chances].map(([id, found]) => [id, affordable(found, budget)]));
}

/** Test files with the same name, or in the same folder, are likelier to kill a mutant. */
function nearness(source: string, testFile: string): number {
  if (testFile.startsWith(source.replace(/\.ts$/, ''))) return 2;
  return dirname(testFile) === dirname(source) ? 1 : 0;
}

/** As many tests as fit half the budget, fastest first, and at least one. */
function chanceOf(file: string, around: number, reaching: { number: number; took: number }[], budget: number): Chance {
  let milliseconds = around;
  const chosen = reaching
    .toSorted((one, other) => one.took - other.took)
    .filter(({ took }, index) => {
      if (index > 0 && milliseconds + took > budget / 2) return false;
      milliseconds += took;
      return true;
    });
  return { file, tests: chosen.map(({ number }) => number).toSorted((one, other) => one - other), milliseconds };
}

/**
 * By file: mutants of constants read only in other folders, where reads are not recorded. Any test that reaches the
 * file may read them.
 */
function unreadConstants(mutants: readonly Mutant[], coverage: readonly Coverage[]): Map<string, string[]> {
  const reached = new Set(coverage.flatMap(({ tests }) => tests.flatMap(({ ids }) => ids)));
  const unread = new Map<string, string[]>();
  for (const { id, file, constant } of mutants) {
    if (constant !== undefined && !reached.has(id)) unread.set(file, [...(unread.get(file) ?? []), id]);
  }
  return unread;
}

function affordable(found: { chance: Chance; focus: number }[], budget: number): Chance[] {
  const sorted = found.toSorted(
    (one, other) => other.focus - one.focus || one.chance.milliseconds - other.chance.milliseconds,
  );
  let spent = 0;
  return sorted
    .map(({ chance }) => chance)
    .filter((chance, index) => {
      if (index > 0 && spent + chance.milliseconds > budget) return false;
      spent += chance.milliseconds;
      return true;
    });
}

/** A mutant, and the tests of a file to try it with: those whose names contain `test`. */
export interface Attempt {
  id: string;
  file: string;
  test: string;
}

/** @param text `ID FILE`, or `ID FILE > TEST` */
export function parseAttempt(text: string): Attempt {
  const [, id, file, test = ''] = /^(\w+) (\S+)(?: > (.+))?$/.exec(text) ?? [];
  if (id === undefined || file === undefined) throw new Error(`Not "ID FILE > TEST": ${text}`);
  return { id, file, test };
}

/** The tests of the attempts, regardless of their cost and of whether they reach the mutant. */
export function attempted(attempts: readonly Attempt[]): Map<string, Chance[]> {
  const byMutant = Map.groupBy(attempts, ({ id }) => id);
  const chances = [...byMutant].map(([id, own]): [string, Chance[]] => [
    id,
    own.map(({ file, test }) => ({ file, tests: test, milliseconds: 0 })),
  ]);
  return new Map(chances);
}

/** `count` random mutants, stable per seed: a change of the code affects only its own mutants. */
export function sample<T extends { id: string }>(all: readonly T[], count: number, seed: number): T[] {
  const keyed = all.map((item) => ({ item, key: createHash('sha256').update(`${seed} ${item.id}`).digest('hex') }));
  return keyed
    .toSorted((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ item }) => item)
    .slice(0, count);
}
