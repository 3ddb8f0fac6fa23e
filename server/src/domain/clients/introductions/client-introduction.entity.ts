import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../kernel/columns.ts';
import { impliedTenant, sameProject } from '../../projects/tenant.ts';
import { Client } from '../client.entity.ts';

const schema = defineEntity({
  name: 'ClientIntroduction',
  tableName: 'client_introductions',
  properties: {
    project: impliedTenant,
    client: () => sameProject(Client, 'client_id').primary(),
    /** `client_name`, which is not verified. Null: none that pages could show. */
    claimedName: p.text().nullable(),
    /** Until then, the metadata document is not read again. Null: registered (RFC 7591). */
    freshUntil: instant().nullable(),
    /** With a resolution of one hour. */
    lastUsedAt: instant().index(),
    /** SHA-256 of the registration access token (RFC 7592 section 3). */
    managementHash: p.text().nullable(),
    /** Where it was first seen: an address, or the /64 of one. Null: from before the column. */
    network: p.text().nullable(),
    createdAt: instant(),
  },
});

/** The introduction of a client that no admin created (decisions/0392). */
export class ClientIntroduction extends schema.class {}
schema.setClass(ClientIntroduction);
