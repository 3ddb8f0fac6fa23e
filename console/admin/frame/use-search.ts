import { useCallback, useEffect, useState } from 'react';

/** Asks as one types, after a short rest; an answer that comes too late is dropped, and the last stays until the next. */
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
 * Enter, where what was found may still be the answer to fewer letters: it then means the first of what will be found.
 *
 * @param isOpen whether what would be chosen now may be another one in a moment
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
