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

const events = {
  'admin-token.issued': ['administration', '{actor} issued the API token {subject}'],
  'admin-token.revoked': ['administration', '{actor} revoked the API token {subject}'],
  'bootstrap-token.used': ['administration', 'The bootstrap token was used'],
  'membership.granted': ['administration', '{actor} assigned the role {role} to {subject}'],
  'membership.revoked': ['administration', '{actor} removed the role {role} from {subject}'],
  'setup-link.minted': ['administration', 'A setup link was created'],
  'setup-link.used': ['administration', 'A setup link was used'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    admins: typeof nouns;
  }
  interface Events {
    admins: typeof events;
  }
}

export const adminsNouns = {
  nouns,
  events,
  entities: [IdempotentRequest, Membership, SetupLink, AdminToken],
  userTables: [adminTables],
} satisfies Declaration<UserTables>;
