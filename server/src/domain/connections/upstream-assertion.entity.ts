import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../kernel/columns.ts';
import { impliedTenant } from '../projects/tenant.ts';

const schema = defineEntity({
  name: 'UpstreamAssertion',
  tableName: 'upstream_assertions',
  properties: {
    project: impliedTenant,
    connectionId: p.uuid().primary(),
    /** SHA-256 of the assertion's ID. */
    idHash: p.text().primary(),
    /** When the assertion can no longer be accepted. */
    forgetAt: instant().index(),
  },
});

/** Used assertions of SAML providers: each counts once at its connection, across processes. */
export class UpstreamAssertion extends schema.class {}
schema.setClass(UpstreamAssertion);
