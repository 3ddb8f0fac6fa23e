import { defineEntity, p } from '@mikro-orm/core';
import { Client } from '../clients/client.entity.ts';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';

const schema = defineEntity({
  name: 'ClientRole',
  tableName: 'client_roles',
  properties: {
    project: impliedTenant,
    id: key(),
    client: () => sameProject(Client, 'client_id'),
    /** The value in the roles claim. */
    key: p.text(),
    name: p.text(),
    description: p.text().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
  },
  indexes: [{ name: 'client_roles_project_id_key_index', properties: ['project', 'key'] }],
  uniques: [{ name: 'client_roles_project_id_client_id_key_unique', properties: ['client', 'key'] }],
});

/** A role of one application. */
export class ClientRole extends schema.class {}
schema.setClass(ClientRole);
