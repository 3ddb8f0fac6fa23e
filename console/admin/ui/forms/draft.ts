import { useCallback, useMemo, useRef, useState } from 'react';

export interface Draft<T extends object> {
  /** Saved values overlaid with edits. */
  values: T;
  set<K extends keyof T>(name: K, value: T[K]): void;
  /** Names of the edited fields. */
  changed: (keyof T)[];
  /** Edited values only. */
  edits: Partial<T>;
  /** Marks these edits as saved: they stay visible until the refetch; later edits stay as well. */
  settle(edits: Partial<T>): void;
  reset(): void;
}

interface Typed<T> {
  /** Edits by field name. */
  typed: Partial<T>;
  /** Edits accepted by the server, and the saved values at that time. */
  taken?: { edits: Partial<T>; over: T };
}

/** Form state over saved values: edits survive a refetch. */
export function useDraft<T extends object>(saved: T): Draft<T> {
  const [state, setState] = useState<Typed<T>>({ typed: {} });
  // The saved values were refetched after the save.
  const isRead = state.taken !== undefined && state.taken.over !== saved;
  const current = isRead ? without(state) : state;
  if (isRead) setState(current);
  const { typed, taken } = current;
  const set = useCallback(
    <K extends keyof T>(name: K, value: T[K]) =>
      setState((before) => ({ ...before, typed: { ...before.typed, [name]: value } })),
    [],
  );
  // Read at the time of the response, not of the submit.
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

/** Edits except those that the server accepted unchanged. */
function without<T extends object>({ typed, taken }: Typed<T>): Typed<T> {
  const left = (Object.keys(typed) as (keyof T)[]).filter((name) => !isSame(typed[name], taken?.edits[name]));
  return { typed: Object.fromEntries(left.map((name) => [name, typed[name]])) as Partial<T> };
}

function isSame(one: unknown, two: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(two);
}
