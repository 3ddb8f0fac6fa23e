import type { AuditEventFilter } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { type EventGroup, groupNames, typesOf } from './sentences.ts';

const periods = { hour: 3600, day: 86_400, week: 7 * 86_400, month: 30 * 86_400 } as const;
export const periodNames = {
  hour: t('Last hour'),
  day: t('Last 24 hours'),
  week: t('Last 7 days'),
  month: t('Last 30 days'),
} as const;

/** URL parameters that filter the list, so that a link reproduces it. */
export const queryNames = [
  ...['group', 'type', 'result', 'period', 'since', 'until'],
  ...['user', 'client', 'actor', 'subject', 'request', 'signIn', 'organization'],
] as const;

type Get = (name: string) => string | undefined;

/** Parses a local date or minute; undefined for anything else. */
export function momentOf(text: string): Date | undefined {
  const days = { today: 0, yesterday: 1 } as const;
  const word = text.trim().toLowerCase();
  if (word in days) {
    const at = new Date();
    at.setHours(0, 0, 0, 0);
    at.setDate(at.getDate() - days[word as keyof typeof days]);
    return at;
  }
  const back = /^(\d{1,4})\s*(m|min|h|d)$/.exec(word);
  if (back) {
    const seconds = { m: 60, min: 60, h: 3600, d: 86_400 }[back[2] as 'm' | 'min' | 'h' | 'd'];
    return new Date(Date.now() - Number(back[1]) * seconds * 1000);
  }
  const [, day, time = '00:00'] = /^(\d{4}-\d\d-\d\d)(?:[t ](\d\d:\d\d))?$/.exec(word) ?? [];
  if (!day) return undefined;
  const at = new Date(`${day}T${time}`);
  return Number.isNaN(at.getTime()) ? undefined : at;
}

/** The filter for the audit query. */
export function filterOf(get: Get, now: number): AuditEventFilter {
  const [group, type, result, period] = [get('group'), get('type'), get('result'), get('period')];
  const seconds = periods[period as keyof typeof periods];
  const types = type ? type.split(',') : group && group in groupNames ? typesOf(group as EventGroup) : undefined;
  const [since, until] = [get('since'), get('until')];
  const from = since ?? (seconds ? new Date(now - seconds * 1000).toISOString() : undefined);
  const ids = { userId: get('user'), clientId: get('client'), actorId: get('actor') };
  const more = { subjectId: get('subject'), requestId: get('request'), signInId: get('signIn') };
  const organizationId = get('organization');
  return Object.fromEntries(
    Object.entries({
      ...(types ? { types } : {}),
      ...(result === 'SUCCESS' || result === 'FAILURE' ? { result } : {}),
      ...ids,
      ...more,
      organizationId,
      since: from,
      until,
    }).filter(([, value]) => value !== undefined),
  );
}

/** The export's URL with the same filter. */
export function exportAddress(
  format: 'csv' | 'jsonl',
  projectId: string | undefined,
  filter: AuditEventFilter,
): string {
  const query = new URLSearchParams({ format, ...(projectId ? { project: projectId } : {}) });
  const set = (name: string, value: string | null | undefined) => value && query.set(name, value);
  set('type', filter.types?.join(','));
  set('result', filter.result?.toLowerCase());
  set('user', filter.userId);
  set('client', filter.clientId);
  set('actor', filter.actorId);
  set('subject', filter.subjectId);
  set('request', filter.requestId);
  set('signIn', filter.signInId);
  set('organization', filter.organizationId);
  set('since', filter.since);
  set('until', filter.until);
  return `/admin/export/events?${query}`;
}
