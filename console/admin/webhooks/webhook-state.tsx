import { Badge } from '@mantine/core';
import type { WebhookRowFragment } from '../generated/operations.ts';

export type Webhook = WebhookRowFragment;

export const disabledReasons = {
  ADMIN: 'An admin disabled it.',
  FAILURES: 'It did not accept an event for five days.',
  GONE: 'It answered 410 (Gone).',
} as const;

export function WebhookState({ webhook: { disabledReason, failures, lastDeliveredAt } }: { webhook: Webhook }) {
  if (disabledReason === 'ADMIN') return <Badge>Disabled</Badge>;
  if (disabledReason) return <Badge color="bad">Disabled</Badge>;
  if (failures > 0) return <Badge color="note">Failing</Badge>;
  return lastDeliveredAt ? <Badge color="good">OK</Badge> : <Badge>No events yet</Badge>;
}

/** The events that it receives, as text. */
export function eventsOf({ types }: Pick<Webhook, 'types'>): string {
  if (types.length === 0) return 'All events';
  return types.length <= 3 ? types.join(', ') : `${types.slice(0, 2).join(', ')} and ${types.length - 2} more`;
}
