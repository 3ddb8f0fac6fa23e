import { useCallback, useEffect, useState } from 'react';

/** Debounced search; late responses are dropped, and the last result stays until the next. */
export function useSearch<Answer>(text: string, enabled: boolean, ask: (text: string) => Promise<Answer | undefined>) {
  const [answer, setAnswer] = useState<Answer>();
  const [pending, setPending] = useState(false);
  useEffect(() => {
    if (!enabled) return;
    let isCurrent = true;
    setPending(true);
    const timer = setTimeout(
      async () => {
        const next = await ask(text);
        if (!isCurrent) return;
        setPending(false);
        if (next !== undefined) setAnswer(() => next);
      },
      text === '' ? 0 : 150,
    );
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [text, enabled, ask]);
  return { answer, pending };
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
