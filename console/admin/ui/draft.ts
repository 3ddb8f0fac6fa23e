import { useCallback, useMemo, useRef, useState } from 'react';

export interface Draft<T extends object> {
  /** What is saved, with what was typed over it. */
  values: T;
  set<K extends keyof T>(name: K, value: T[K]): void;
  /** The names of what differs from what is saved. */
  changed: (keyof T)[];
  /** Only what differs. */
  edits: Partial<T>;
  /** These edits have been saved: they stay in sight until they are read again, and so does what was typed since. */
  settle(edits: Partial<T>): void;
  reset(): void;
}

interface Typed<T> {
  /** What the reader typed last, by name. */
  typed: Partial<T>;
  /** What the server has taken of it, over what was known at that time. */
  taken?: { edits: Partial<T>; over: T };
}

/** A form over something saved: what is saved may move under it, what was typed stays. */
export function useDraft<T extends object>(saved: T): Draft<T> {
  const [state, setState] = useState<Typed<T>>({ typed: {} });
  // Read again since: from here on that is what is saved.
  const isRead = state.taken !== undefined && state.taken.over !== saved;
  const current = isRead ? without(state) : state;
  if (isRead) setState(current);
  const { typed, taken } = current;
  const set = useCallback(
    <K extends keyof T>(name: K, value: T[K]) =>
      setState((before) => ({ ...before, typed: { ...before.typed, [name]: value } })),
    [],
  );
  // Whoever saves has waited for the answer: what is known by then counts, not what was known when they began.
  const latest = useRef(saved);
  latest.current = saved;
  const settle = useCallback((edits: Partial<T>) => {
    const over = latest.current;
    setState((before) => ({ ...before, taken: { edits, over } }));
  }, []);
  const reset = useCallback(() => setState({ typed: {} }), []);
  return useMemo(() => {
    const known = { ...saved, ...taken?.edits };
    const changed = (Object.keys(typed) as (keyof T)[]).filter((name) => !isSame(typed[name], known[name]));
    const edits = Object.fromEntries(changed.map((name) => [name, typed[name]])) as Partial<T>;
    return { values: { ...known, ...edits }, set, changed, edits, settle, reset };
  }, [saved, typed, taken, set, settle, reset]);
}

/** What was typed, but for what the server has taken as it stands. */
function without<T extends object>({ typed, taken }: Typed<T>): Typed<T> {
  const left = (Object.keys(typed) as (keyof T)[]).filter((name) => !isSame(typed[name], taken?.edits[name]));
  return { typed: Object.fromEntries(left.map((name) => [name, typed[name]])) as Partial<T> };
}

function isSame(one: unknown, two: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(two);
}
