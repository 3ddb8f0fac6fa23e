import { defineEntity } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { Group } from '../users/group.entity.ts';
import { User } from '../users/user.entity.ts';
import { ClientRole } from './client-role.entity.ts';

const schema = defineEntity({
  name: 'RoleAssignment',
  tableName: 'role_assignments',
  properties: {
    project: impliedTenant,
    id: key(),
    role: () => sameProject(ClientRole, 'role_id'),
    user: () => sameProject(User, 'user_id').nullable(),
    group: () => sameProject(Group, 'group_id').nullable(),
    createdAt: instant(),
  },
  uniques: [
    { name: 'role_assignments_project_id_role_id_user_id_unique', properties: ['role', 'user'] },
    { name: 'role_assignments_project_id_role_id_group_id_unique', properties: ['role', 'group'] },
  ],
  indexes: [
    { name: 'role_assignments_project_id_user_id_index', properties: ['user'] },
    { name: 'role_assignments_project_id_group_id_index', properties: ['group'] },
  ],
});

/** A role given to one user or to the members of one group. */
export class RoleAssignment extends schema.class {}
schema.setClass(RoleAssignment);
