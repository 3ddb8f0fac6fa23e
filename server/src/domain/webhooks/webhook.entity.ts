import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { columnsOf } from '../kernel/resource.ts';
import { tenant } from '../projects/tenant.ts';
import { webhookFields } from './webhook.resource.ts';

/** The reason why a webhook receives nothing: an admin disabled it, deliveries failed for too long, or it answered 410 (Gone). */
export const disabledReasons = ['admin', 'failures', 'gone'] as const;
export type DisabledReason = (typeof disabledReasons)[number];

const schema = defineEntity({
  name: 'Webhook',
  tableName: 'webhooks',
  properties: {
    project: tenant(),
    id: key(),
    ...columnsOf(webhookFields),
    /** Null: enabled. */
    disabledReason: p.text().$type<DisabledReason>().nullable(),
    sealedSecret: p.blob(),
    secretCreatedAt: instant(),
    /** Also signs until `previousSecretUntil`. */
    sealedPreviousSecret: p.blob().nullable(),
    previousSecretUntil: instant().nullable(),
    /** Attempts that failed since the last success. */
    failures: p.integer().default(0),
    failingSince: instant().nullable(),
    lastDeliveredAt: instant().nullable(),
    /** Nothing is sent before this time; null: no wait. */
    nextAttemptAt: instant().nullable(),
    /** The process that delivers, until `leasedUntil`. */
    lease: p.uuid().nullable(),
    leasedUntil: instant().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
  },
});

/** An address that receives events of a project by POST (Standard Webhooks). */
export class Webhook extends schema.class {}
schema.setClass(Webhook);
