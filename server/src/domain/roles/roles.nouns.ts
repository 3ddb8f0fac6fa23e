import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import type { UserTables } from '../users/user-tables.ts';
import { ClientRole } from './client-role.entity.ts';
import { RoleAssignment } from './role-assignment.entity.ts';
import { roleTables } from './user-tables.ts';

const nouns = {
  role: { table: 'client_roles' },
} as const;

const events = {
  'role.assigned': ['people', '{actor} assigned the role {role} of {client} to {subject}'],
  'role.created': ['applications', '{actor} created the role {subject} of {client}'],
  'role.deleted': ['applications', '{actor} deleted the role {subject} of {client}'],
  'role.unassigned': ['people', '{actor} removed the role {role} of {client} from {subject}'],
  'role.updated': ['applications', '{actor} changed the role {subject} of {client}'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    roles: typeof nouns;
  }
  interface Events {
    roles: typeof events;
  }
}

export const rolesNouns = {
  nouns,
  events,
  entities: [ClientRole, RoleAssignment],
  transfer: [
    { type: 'role', table: 'client_roles', parent: childOf('client'), key: ['id'] },
    { type: 'role-assignment', table: 'role_assignments', parent: childOf('role'), key: ['id'] },
  ],
  userTables: [roleTables],
} satisfies Declaration<UserTables>;
