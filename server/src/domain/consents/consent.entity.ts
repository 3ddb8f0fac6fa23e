import { defineEntity, p } from '@mikro-orm/core';
import { Client } from '../clients/client.entity.ts';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { User } from '../users/user.entity.ts';

const schema = defineEntity({
  name: 'Consent',
  tableName: 'consents',
  properties: {
    project: impliedTenant,
    id: key(),
    client: () => sameProject(Client, 'client_id'),
    user: () => sameProject(User, 'user_id'),
    /** Everything that the user has allowed. */
    scopes: p.array().columnType('text[]'),
    /** The organizations in which the client may act for the user. It may see all with the scope `organizations`. */
    organizationIds: p.array().columnType('uuid[]').default([]),
    createdAt: instant(),
    updatedAt: instant(),
  },
  uniques: [{ name: 'consents_project_id_user_id_client_id_unique', properties: ['project', 'user', 'client'] }],
});

/** The scopes that a user allows a third-party application. A withdrawal deletes the row. */
export class Consent extends schema.class {}
schema.setClass(Consent);
