import { useCallback, useMemo, useState } from 'react';

export interface Draft<T extends object> {
  /** What is saved, with what was typed over it. */
  values: T;
  set<K extends keyof T>(name: K, value: T[K]): void;
  /** The names of what differs from what is saved. */
  changed: (keyof T)[];
  /** Only what differs. */
  edits: Partial<T>;
  reset(): void;
}

/** A form over something saved: what is saved may move under it, what was typed stays. */
export function useDraft<T extends object>(saved: T): Draft<T> {
  const [typed, setTyped] = useState<Partial<T>>({});
  const set = useCallback(
    <K extends keyof T>(name: K, value: T[K]) => setTyped((before) => ({ ...before, [name]: value })),
    [],
  );
  const reset = useCallback(() => setTyped({}), []);
  return useMemo(() => {
    const changed = (Object.keys(typed) as (keyof T)[]).filter((name) => !isSame(typed[name], saved[name]));
    const edits = Object.fromEntries(changed.map((name) => [name, typed[name]])) as Partial<T>;
    return { values: { ...saved, ...edits }, set, changed, edits, reset };
  }, [saved, typed, set, reset]);
}

function isSame(one: unknown, two: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(two);
}
