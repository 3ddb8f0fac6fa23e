import { defineEntity, p } from '@mikro-orm/core';
import { Client } from '../../clients/client.entity.ts';
import { instant, key } from '../../kernel/columns.ts';
import { impliedTenant, sameProject } from '../../projects/tenant.ts';

const schema = defineEntity({
  name: 'PushedRequest',
  tableName: 'pushed_requests',
  properties: {
    project: impliedTenant,
    id: key(),
    client: () => sameProject(Client, 'client_id'),
    /** SHA-256 of the last part of its `request_uri`. */
    handleHash: p.text().index(),
    /** The issuer that it was pushed to, and the only one that accepts it. */
    issuer: p.text().nullable(),
    /** The parameters as a form, without those that authenticate the client. */
    parameters: p.text(),
    createdAt: instant(),
    expiresAt: instant().index(),
    usedAt: instant().nullable(),
  },
});

/** A pushed authorization request (RFC 9126). */
export class PushedRequest extends schema.class {}
schema.setClass(PushedRequest);
