import type { Declaration } from '../kernel/nouns/declaration.ts';
import { Webhook } from './webhook.entity.ts';
import { webhookFields } from './webhook.resource.ts';
import { WebhookDelivery } from './webhook-delivery.entity.ts';

const nouns = {
  webhook: { table: 'webhooks' },
  'webhook-delivery': { table: 'webhook_deliveries' },
} as const;

const events = {
  'webhook.created': ['administration', '{actor} created the webhook {subject}'],
  'webhook.deleted': ['administration', '{actor} deleted the webhook {subject}'],
  'webhook.disabled': ['administration', 'The webhook {subject} was disabled'],
  'webhook.replayed': ['administration', '{actor} replayed deliveries to {subject}'],
  'webhook.secret-rotated': ['administration', '{actor} rotated the secret of {subject}'],
  'webhook.tested': ['administration', '{actor} tested the webhook {subject}'],
  'webhook.updated': ['administration', '{actor} changed the webhook {subject}'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    webhooks: typeof nouns;
  }
  interface Events {
    webhooks: typeof events;
  }
}

export const webhooksNouns = {
  nouns,
  events,
  resources: { Webhook: webhookFields },
  entities: [Webhook, WebhookDelivery],
} satisfies Declaration;
