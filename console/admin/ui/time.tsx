import { Tooltip } from '@mantine/core';
import { useState, useSyncExternalStore } from 'react';
import { locale, t } from '../language/language.ts';

const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
const exact = { dateStyle: 'medium', timeStyle: 'medium' } as const;

let tick = 0;
const listeners = new Set<() => void>();
setInterval(() => {
  tick += 1;
  for (const listener of listeners) listener();
}, 30_000);

/** Rerenders every 30 seconds to update relative times. */
function useTicking(): void {
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => tick,
  );
}

const steps = [
  [60, 'second', 1],
  [3600, 'minute', 60],
  [86_400, 'hour', 3600],
  [86_400 * 30, 'day', 86_400],
  [86_400 * 365, 'month', 86_400 * 30],
  [Number.POSITIVE_INFINITY, 'year', 86_400 * 365],
] as const;

/** "3 minutes ago", "in 2 days". */
function ago(at: string): string {
  const seconds = (new Date(at).getTime() - Date.now()) / 1000;
  if (Math.abs(seconds) < 45) return seconds > 10 ? t('soon') : t('just now');
  const [, unit, size] = steps.find(([below]) => Math.abs(seconds) < below) ?? steps[5];
  return relative.format(Math.round(seconds / size), unit);
}

export const exactly = (at: string) => new Date(at).toLocaleString(locale, exact);

/** Relative time; the exact time on hover. */
export function Time({ at, fallback = t('Never') }: { at: string | null | undefined; fallback?: string }) {
  useTicking();
  // A list has many times: their tooltips would take longer to render than the rest of it.
  const [wasHovered, setHovered] = useState(false);
  if (at == null) return <span>{fallback}</span>;
  const time = (
    <time dateTime={at} onMouseEnter={() => setHovered(true)}>
      {ago(at)}
    </time>
  );
  return wasHovered ? <Tooltip label={exactly(at)}>{time}</Tooltip> : time;
}
