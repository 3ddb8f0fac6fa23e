import { Tooltip } from '@mantine/core';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { Link } from 'react-router';
import { useAccess } from '../access.tsx';
import { pulse, useRead } from '../api.ts';
import { SystemLevel } from '../generated/operations.ts';
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

function useMilliseconds(): number | undefined {
  const [ms, setMs] = useState(pulse.ms);
  useEffect(() => {
    const listener = () => setMs(pulse.ms);
    pulse.listeners.add(listener);
    return () => {
      pulse.listeners.delete(listener);
    };
  }, []);
  return ms;
}

/** A dot: whether the server answers, and for owners whether the instance is sound. */
export function Pulse() {
  const online = useOnline();
  const ms = useMilliseconds();
  const { isOwner } = useAccess();
  const { data } = useRead(SystemLevel, {}, { pause: !isOwner, everySeconds: 30 });
  const answers = online && ms !== undefined;
  const faults = data?.system.checks.filter(({ level }) => level !== 'OK') ?? [];
  const level = !answers ? 'FAIL' : (data?.system.level ?? 'OK');
  const text = !online
    ? 'You are offline'
    : !answers
      ? 'The server does not answer'
      : faults.length > 0
        ? faults.map(({ name, summary }) => `${name}: ${summary}`).join('. ')
        : `All is well; the server answers in ${ms} ms`;
  const dot = <span className={styles.dot} data-level={level} aria-hidden="true" />;
  return (
    <Tooltip label={text} multiline maw={320}>
      {isOwner ? (
        <Link to="/system" className={styles.pulse} aria-label={`System. ${text}`}>
          {dot}
        </Link>
      ) : (
        <span className={styles.pulse} role="status" aria-label={text} tabIndex={0}>
          {dot}
        </span>
      )}
    </Tooltip>
  );
}
