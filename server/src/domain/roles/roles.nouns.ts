import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import type { UserTables } from '../users/user-tables.ts';
import { ClientRole } from './client-role.entity.ts';
import { RoleAssignment } from './role-assignment.entity.ts';
import { roleTables } from './user-tables.ts';

const nouns = {
  role: { table: 'client_roles' },
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    roles: typeof nouns;
  }
}

export const rolesNouns = {
  nouns,
  entities: [ClientRole, RoleAssignment],
  transfer: [
    { type: 'role', table: 'client_roles', parent: childOf('client'), key: ['id'] },
    { type: 'role-assignment', table: 'role_assignments', parent: childOf('role'), key: ['id'] },
  ],
  userTables: [roleTables],
} satisfies Declaration<UserTables>;
