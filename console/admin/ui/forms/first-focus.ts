import { type RefObject, useEffect, useRef } from 'react';

/** Props of the field to focus on mount. Mantine focuses in a later task, and loses input typed before that. */
export function useFirstFocus<Field extends HTMLElement>(): { ref: RefObject<Field | null>; 'data-autofocus': true } {
  const ref = useRef<Field>(null);
  // After the dialog has stored the previous focus, before the next key event.
  useEffect(() => queueMicrotask(() => ref.current?.focus({ preventScroll: true })), []);
  return { ref, 'data-autofocus': true };
}
