import { CloseButton } from '@mantine/core';
import { useEffect, useSyncExternalStore } from 'react';
import { Icon } from './icon.tsx';
import styles from './toast.module.css';

interface Toast {
  id: number;
  text: string;
}

let toasts: readonly Toast[] = [];
let count = 0;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/** Shows a success message. Errors are shown inline instead. */
export function toast(text: string): void {
  count += 1;
  set([...toasts.slice(-2), { id: count, text }]);
}

const dismiss = (id: number) => set(toasts.filter((one) => one.id !== id));

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <div className={styles.toasts} role="status" aria-live="polite">
      {shown.map((one) => (
        <ToastItem key={one.id} {...one} />
      ))}
    </div>
  );
}

function ToastItem({ id, text }: Toast) {
  useEffect(() => {
    const timer = setTimeout(() => dismiss(id), 6000);
    return () => clearTimeout(timer);
  }, [id]);
  return (
    <div className={styles.toast}>
      <Icon name="check" size={18} />
      <span>{text}</span>
      <CloseButton size="sm" aria-label="Dismiss" onClick={() => dismiss(id)} />
    </div>
  );
}
