import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { Client } from './client.entity.ts';

const schema = defineEntity({
  name: 'ClientSecret',
  tableName: 'client_secrets',
  properties: {
    project: impliedTenant,
    id: key(),
    client: () => sameProject(Client, 'client_id'),
    hash: p.text().index(),
    /** The last four characters, for display. */
    hint: p.text(),
    createdAt: instant(),
    lastUsedAt: instant().nullable(),
    revokedAt: instant().nullable(),
  },
});

/** A client's secret at the token endpoint (`lk_cs_…`; RFC 6749 §2.3.1). 256 bits, shown once, stored as a hash. */
export class ClientSecret extends schema.class {}
schema.setClass(ClientSecret);
