import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../kernel/columns.ts';
import { impliedTenant } from '../../projects/tenant.ts';

const schema = defineEntity({
  name: 'UsedAssertion',
  tableName: 'used_assertions',
  properties: {
    project: impliedTenant,
    clientId: p.uuid().primary(),
    /** SHA-256 of the assertion's `jti`. */
    jtiHash: p.text().primary(),
    /** Kept past the assertion's expiry by more than the leeway. */
    forgetAt: instant().index(),
  },
});

/** Used client assertions: each `jti` once, across processes (RFC 7523 §3). */
export class UsedAssertion extends schema.class {}
schema.setClass(UsedAssertion);
