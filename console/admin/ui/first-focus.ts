import { type RefObject, useEffect, useRef } from 'react';

/**
 * Takes the focus as soon as the field is there: what is typed right after the click that opened it belongs to it. Mantine
 * moves the focus in a later task, and what was typed before that went nowhere.
 */
export function useFirstFocus<Field extends HTMLElement>(): RefObject<Field | null> {
  const field = useRef<Field>(null);
  // After the dialog has noted where the focus was, and before any other key can come in.
  useEffect(() => queueMicrotask(() => field.current?.focus({ preventScroll: true })), []);
  return field;
}
