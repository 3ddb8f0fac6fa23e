import type { ActivityQuery } from '../generated/operations.ts';
import { t } from '../language/language.ts';

export type Day = ActivityQuery['activity'][number];

const nothing: Omit<Day, 'day'> = {
  ...{ signIns: 0, signInsOnKnownDevices: 0, signInsWithPasskeys: 0, activeUsers: 0, refused: 0 },
  ...{ codesSent: 0, codesVerified: 0, codeSeconds: 0, logoutsDelivered: 0, logoutsFailed: 0 },
  ...{ scimRequests: 0, scimRefused: 0, scimFailed: 0 },
};

/** The last `count` days up to today (UTC), oldest first; days without activity are zero. */
export function lastDays(days: readonly Day[], count: number): Day[] {
  const known = new Map(days.map((one) => [one.day, one]));
  return Array.from({ length: count }, (_, index) => {
    const day = new Date(Date.now() - (count - 1 - index) * 86_400_000).toISOString().slice(0, 10);
    return known.get(day) ?? { day, ...nothing };
  });
}

/** Relative change from the previous period; undefined if that was zero. */
export function change(now: number, before: number): string | undefined {
  if (before === 0) return undefined;
  const percent = Math.round(((now - before) / before) * 100);
  return percent === 0 ? t('unchanged') : `${percent > 0 ? '+' : '−'}${Math.abs(percent)} %`;
}

/** The charts that have data in these days. A chart without data is left out. */
export function chartsOf(days: readonly Day[]) {
  const has = (of: (day: Day) => number) => days.some((day) => of(day) > 0);
  return {
    signIns: has((day) => day.signIns + day.refused),
    activeUsers: has((day) => day.activeUsers),
    codes: has((day) => day.codesSent),
    directory: has((day) => day.scimRefused + day.scimFailed),
    logouts: has((day) => day.logoutsDelivered + day.logoutsFailed),
  };
}
