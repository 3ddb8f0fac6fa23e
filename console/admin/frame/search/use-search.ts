import { useDebouncedValue } from '@mantine/hooks';
import { useCallback, useEffect, useState } from 'react';
import { useQuery } from '../../api.ts';
import type { Operation } from '../../generated/operations.ts';

/** Whether a text is enough for a search on the server: two characters, or one of a script such as Chinese. */
export const isSearchable = (text: string): boolean => text.length > 1 || /[^\0-\x7f]/.test(text);

/** Debounced search; the last result stays until the next. */
export function useSearch<Data, Variables>(
  operation: Operation<Data, Variables>,
  variables: Variables,
  isEnabled: boolean,
): { answer: Data | undefined; pending: boolean } {
  const typed = JSON.stringify(variables);
  const [searched] = useDebouncedValue(typed, 150);
  const isSettled = typed === searched;
  const { data, stale, previous } = useQuery(operation, JSON.parse(searched) as Variables, {
    keep: true,
    pause: !isEnabled || !isSettled,
  });
  return { answer: data, pending: isEnabled && (!isSettled || (stale && (previous || !data))) };
}

/**
 * Defers Enter while results are pending, then chooses the first result.
 *
 * @param isOpen whether results are still pending
 */
export function useEnter(isOpen: boolean, choose: () => void): { enter(): void; forget(): void } {
  const [waits, setWaits] = useState(false);
  useEffect(() => {
    if (!waits || isOpen) return;
    setWaits(false);
    choose();
  });
  const forget = useCallback(() => setWaits(false), []);
  return { enter: () => (isOpen ? setWaits(true) : choose()), forget };
}
