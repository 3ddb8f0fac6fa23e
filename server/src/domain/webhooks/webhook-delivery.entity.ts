import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant } from '../projects/tenant.ts';

export const webhookDeliveryStates = ['pending', 'delivered', 'failed'] as const;
export type WebhookDeliveryState = (typeof webhookDeliveryStates)[number];

/** One POST and its result. */
export interface WebhookAttempt {
  at: string;
  status?: number;
  error?: string;
  durationMs: number;
}

const schema = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_deliveries',
  properties: {
    project: impliedTenant,
    /** The time of the event, and parts of the ids of event and webhook: the same delivery is queued once. */
    id: key(),
    webhookId: p.uuid(),
    /** The body is built from the event when it is sent. */
    eventId: p.uuid(),
    type: p.text(),
    /** Deliveries with the same key are sent one after another: the id of the event's subject. */
    orderKey: p.text(),
    state: p.text().$type<WebhookDeliveryState>().default('pending'),
    /** Attempts since it was queued or replayed. */
    tries: p.integer().default(0),
    attempts: p.json<WebhookAttempt[]>().default('[]'),
    /** By the clock of the database: the order of deliveries with the same key. */
    queuedAt: instant().defaultRaw('clock_timestamp()'),
    nextAttemptAt: instant().nullable(),
    createdAt: instant(),
    settledAt: instant().nullable(),
  },
});

/** An event for one webhook. A trigger on the audit log writes it, in the transaction of the event. */
export class WebhookDelivery extends schema.class {}
schema.setClass(WebhookDelivery);
