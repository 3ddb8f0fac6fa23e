import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { tenant } from '../projects/tenant.ts';
import { provenances } from './user.entity.ts';

const schema = defineEntity({
  name: 'Group',
  tableName: 'groups',
  properties: {
    project: tenant,
    id: key(),
    /** Its home, see `User.organizationId`: members are at the same one. Deleted with the organization. */
    organizationId: p.uuid().nullable(),
    displayName: p.text(),
    externalId: p.text().nullable(),
    provenance: p.enum(provenances).default('scim'),
    version: p.integer().default(1),
    createdAt: instant(),
    updatedAt: instant(),
  },
  indexes: [
    {
      name: 'groups_project_id_organization_id_id_index',
      expression:
        'create index "groups_project_id_organization_id_id_index" on "groups" ("project_id", "organization_id", "id") where ("organization_id" is not null)',
    },
    {
      name: 'groups_project_id_display_name_index',
      expression:
        'create index "groups_project_id_display_name_index" on "groups" ("project_id", lower("display_name") collate "C", "id")',
    },
    {
      name: 'groups_project_id_external_id_index',
      expression:
        'create index "groups_project_id_external_id_index" on "groups" ("project_id", "external_id" collate "C")',
    },
  ],
});

/** A group of users: of a directory (`scim`), or of admins (`local`). Names need not be unique (RFC 7643 §8.7.1). */
export class Group extends schema.class {}
schema.setClass(Group);
