import { Badge } from '@mantine/core';
import type { WebhookRowFragment } from '../generated/operations.ts';
import { t } from '../language/language.ts';

export type Webhook = WebhookRowFragment;

export const disabledReasons = {
  ADMIN: t('An admin disabled it.'),
  FAILURES: t('It did not accept an event for five days.'),
  GONE: t('It responded with 410 (Gone).'),
} as const;

export function WebhookState({ webhook: { disabledReason, failures, lastDeliveredAt } }: { webhook: Webhook }) {
  if (disabledReason === 'ADMIN') return <Badge>{t('Disabled')}</Badge>;
  if (disabledReason) return <Badge color="bad">{t('Disabled')}</Badge>;
  if (failures > 0) return <Badge color="note">{t('Failing')}</Badge>;
  return lastDeliveredAt ? <Badge color="good">{t('OK')}</Badge> : <Badge>{t('No events yet')}</Badge>;
}

/** The events that it receives, as text. */
export function eventsOf({ types }: Pick<Webhook, 'types'>): string {
  if (types.length === 0) return t('All events');
  return types.length <= 3
    ? types.join(', ')
    : t('{names} and {count} more', { names: types.slice(0, 2).join(', '), count: types.length - 2 });
}
