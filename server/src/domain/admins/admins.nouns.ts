import type { Declaration } from '../kernel/nouns/declaration.ts';
import type { UserTables } from '../users/user-tables.ts';
import { AdminToken } from './admin-token.entity.ts';
import { IdempotentRequest } from './idempotent-request.entity.ts';
import { Membership } from './membership.entity.ts';
import { SetupLink } from './setup-link.entity.ts';
import { adminTables } from './user-tables.ts';

const nouns = {
  'setup-link': {},
  membership: { table: 'memberships' },
  'admin-token': { table: 'admin_tokens' },
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    admins: typeof nouns;
  }
}

export const adminsNouns = {
  nouns,
  entities: [IdempotentRequest, Membership, SetupLink, AdminToken],
  userTables: [adminTables],
} satisfies Declaration<UserTables>;
