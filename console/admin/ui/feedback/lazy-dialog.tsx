import { type ReactNode, Suspense, useEffect, useState } from 'react';

/** A dialog whose script loads when it opens. Unmounting closes it and returns the focus, as other dialogs do. */
export function LazyDialog({ children }: { children: ReactNode }) {
  // Before the dialog gets the focus.
  const [opener] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      const isLost = document.activeElement === null || document.activeElement === document.body;
      if (isLost && opener instanceof HTMLElement) opener.focus({ preventScroll: true });
    },
    [opener],
  );
  return <Suspense>{children}</Suspense>;
}
