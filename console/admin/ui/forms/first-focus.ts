import { type RefObject, useEffect, useRef } from 'react';

/** Focuses the field on mount. Mantine focuses in a later task, and loses input typed before that. */
export function useFirstFocus<Field extends HTMLElement>(): RefObject<Field | null> {
  const field = useRef<Field>(null);
  // After the dialog has stored the previous focus, before the next key event.
  useEffect(() => queueMicrotask(() => field.current?.focus({ preventScroll: true })), []);
  return field;
}
