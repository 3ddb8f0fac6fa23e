import { isDeepStrictEqual } from 'node:util';
import { type Kind, kinds, type Part, pathOf, type WantedProject } from './document.ts';
import type { Values } from './values.ts';

/** The difference between the wanted and the current settings of one part. */
export interface Difference {
  action: 'create' | 'update' | 'remove';
  kind: Kind;
  keys: readonly string[];
  before: Values;
  /** In an update, only the changed values. */
  after: Values;
}

/**
 * The differences in the order in which they are applied: first creations and updates, owners before their parts;
 * then removals, in the reverse order. Only parts of complete lists are removed.
 */
export function differencesOf(wanted: WantedProject, current: readonly Part[]): Difference[] {
  const known = new Map(current.map((part) => [pathOf(part.kind, part.keys), part]));
  const named = new Set(wanted.parts.map(({ kind, keys }) => pathOf(kind, keys)));
  const written = inOrder(wanted.parts).flatMap((part) => changeOf(part, known.get(pathOf(part.kind, part.keys))));
  const removed = inOrder(current)
    .filter(({ kind, keys }) => keys.length > 0 && kind !== 'claims' && !named.has(pathOf(kind, keys)))
    .filter(({ kind, keys }) => wanted.complete.has(pathOf(kind, keys.slice(0, -1))))
    .map(({ kind, keys, values }): Difference => ({ action: 'remove', kind, keys, before: values, after: {} }));
  return [...written, ...removed.toReversed()];
}

const inOrder = (parts: readonly Part[]): Part[] => kinds.flatMap((kind) => parts.filter((part) => part.kind === kind));

function changeOf({ kind, keys, values }: Part, current: Part | undefined): Difference[] {
  if (!current) return [{ action: 'create', kind, keys, before: {}, after: values }];
  const changed = Object.keys(values).filter(
    (name) => !isDeepStrictEqual(plain(values[name]), plain(current.values[name])),
  );
  if (changed.length === 0) return [];
  const pick = (from: Values) => Object.fromEntries(changed.map((name) => [name, from[name]]));
  return [{ action: 'update', kind, keys, before: pick(current.values), after: pick(values) }];
}

/** As JSON: without class instances and undefined members. */
const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
