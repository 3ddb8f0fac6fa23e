import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../kernel/columns.ts';

const schema = defineEntity({
  name: 'IdempotentRequest',
  tableName: 'idempotent_requests',
  properties: {
    /** Hash of the caller and its key. */
    id: p.text().primary(),
    /** Keyed hash of the request. */
    requestMac: p.text(),
    /** The answer as JSON; null until it is known. */
    sealedAnswer: p.blob().nullable(),
    createdAt: instant().index(),
  },
});

/** A mutation of the admin API that was sent with an `Idempotency-Key`. Kept for 24 hours. */
export class IdempotentRequest extends schema.class {}
schema.setClass(IdempotentRequest);
