import type { Declaration } from '../kernel/nouns/declaration.ts';
import type { UserTables } from '../users/user-tables.ts';
import { LogoutDelivery } from './logout-delivery.entity.ts';
import { logoutTables } from './user-tables.ts';

const nouns = {
  'logout-delivery': { table: 'logout_deliveries' },
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    logout: typeof nouns;
  }
}

export const logoutNouns = {
  nouns,
  entities: [LogoutDelivery],
  userTables: [logoutTables],
} satisfies Declaration<UserTables>;
