import { Tooltip } from '@mantine/core';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { Link } from 'react-router';
import { useAccess } from '../access.tsx';
import { latency, useQuery } from '../api.ts';
import { SystemLevel } from '../generated/operations.ts';
import { serverText, t } from '../language/language.ts';
import styles from './server-status.module.css';

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
  const [ms, setMs] = useState(latency.ms);
  useEffect(() => {
    const listener = () => setMs(latency.ms);
    latency.listeners.add(listener);
    return () => void latency.listeners.delete(listener);
  }, []);
  return ms;
}

/** Status dot: server reachability and, for owners, instance health. */
export function ServerStatus() {
  const online = useOnline();
  const ms = useMilliseconds();
  const { isOwner } = useAccess();
  const { data } = useQuery(SystemLevel, {}, { pause: !isOwner, everySeconds: 30 });
  const answers = online && ms !== undefined;
  const faults = data?.system.checks.filter(({ level }) => level !== 'OK') ?? [];
  const level = !answers ? 'FAIL' : (data?.system.level ?? 'OK');
  const text = !online
    ? t('You are offline')
    : !answers
      ? t('The server does not respond')
      : faults.length > 0
        ? faults.map(({ name, summary }) => `${serverText(name)}: ${serverText(summary)}`).join('. ')
        : t('OK; response time {ms} ms', { ms });
  const dot = <span className={styles.dot} data-level={level} aria-hidden="true" />;
  return (
    <Tooltip label={text} multiline maw={320}>
      {isOwner ? (
        <Link to="/system" className={styles.status} aria-label={t('System. {text}', { text })}>
          {dot}
        </Link>
      ) : (
        <span className={styles.status} role="status" aria-label={text} tabIndex={0}>
          {dot}
        </span>
      )}
    </Tooltip>
  );
}
