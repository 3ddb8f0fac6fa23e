import { Tooltip } from '@mantine/core';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { pulse } from '../api.ts';
import styles from './pulse.module.css';

function useOnline(): boolean {
  return useSyncExternalStore(
    (listener) => {
      window.addEventListener('online', listener);
      window.addEventListener('offline', listener);
      return () => {
        window.removeEventListener('online', listener);
        window.removeEventListener('offline', listener);
      };
    },
    () => navigator.onLine,
  );
}

/** A dot: whether the server answers, and how soon. */
export function Pulse() {
  const online = useOnline();
  const [ms, setMs] = useState(pulse.ms);
  useEffect(() => {
    const listener = () => setMs(pulse.ms);
    pulse.listeners.add(listener);
    return () => {
      pulse.listeners.delete(listener);
    };
  }, []);
  const isWell = online && ms !== undefined;
  const text = !online ? 'You are offline' : isWell ? `The server answers (${ms} ms)` : 'The server does not answer';
  return (
    <Tooltip label={text}>
      <span className={styles.pulse} data-well={isWell || undefined} role="status" aria-label={text} tabIndex={0} />
    </Tooltip>
  );
}
