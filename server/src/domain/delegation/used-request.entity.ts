import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../kernel/columns.ts';
import { impliedTenant } from '../projects/tenant.ts';

const schema = defineEntity({
  name: 'UsedRequest',
  tableName: 'used_delegation_requests',
  properties: {
    project: impliedTenant,
    clientId: p.uuid().primary(),
    /** SHA-256 of the request's `jti`. */
    jtiHash: p.text().primary(),
    /** Later than the request's expiry by more than the leeway. */
    forgetAt: instant().index(),
  },
});

/** A used delegation request: each `jti` is accepted once, across processes. */
export class UsedRequest extends schema.class {}
schema.setClass(UsedRequest);
