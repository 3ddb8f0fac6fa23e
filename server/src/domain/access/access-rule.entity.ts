import { defineEntity } from '@mikro-orm/core';
import { Client } from '../clients/client.entity.ts';
import { instant, key } from '../kernel/columns.ts';
import { Organization } from '../organizations/organization.entity.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { ClientRole } from '../roles/client-role.entity.ts';
import { Group } from '../users/group.entity.ts';
import { User } from '../users/user.entity.ts';

const schema = defineEntity({
  name: 'AccessRule',
  tableName: 'access_rules',
  properties: {
    project: impliedTenant,
    id: key(),
    client: () => sameProject(Client, 'client_id'),
    user: () => sameProject(User, 'user_id').nullable(),
    group: () => sameProject(Group, 'group_id').nullable(),
    /** A role of the same client. */
    role: () => sameProject(ClientRole, 'role_id').nullable(),
    /** Its members. */
    organization: () => sameProject(Organization, 'organization_id').nullable(),
    createdAt: instant(),
  },
  uniques: [
    { name: 'access_rules_project_id_client_id_user_id_unique', properties: ['client', 'user'] },
    { name: 'access_rules_project_id_client_id_group_id_unique', properties: ['client', 'group'] },
    { name: 'access_rules_project_id_client_id_role_id_unique', properties: ['client', 'role'] },
    {
      name: 'access_rules_project_id_client_id_organization_id_unique',
      properties: ['client', 'organization'],
    },
  ],
  indexes: [
    { name: 'access_rules_project_id_user_id_index', properties: ['user'] },
    { name: 'access_rules_project_id_group_id_index', properties: ['group'] },
    { name: 'access_rules_project_id_role_id_index', properties: ['role'] },
    { name: 'access_rules_project_id_organization_id_index', properties: ['organization'] },
  ],
});

/**
 * Gives access to a client whose `access` is `assigned`: to one user, to the members of a group or
 * an organization, or to the holders of a role.
 */
export class AccessRule extends schema.class {}
schema.setClass(AccessRule);
