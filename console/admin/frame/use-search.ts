import { useEffect, useState } from 'react';

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
