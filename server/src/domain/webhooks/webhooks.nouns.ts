import type { Declaration } from '../kernel/nouns/declaration.ts';
import { Webhook } from './webhook.entity.ts';
import { WebhookDelivery } from './webhook-delivery.entity.ts';

const nouns = {
  webhook: { table: 'webhooks' },
  'webhook-delivery': { table: 'webhook_deliveries' },
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    webhooks: typeof nouns;
  }
}

export const webhooksNouns = {
  nouns,
  entities: [Webhook, WebhookDelivery],
} satisfies Declaration;
