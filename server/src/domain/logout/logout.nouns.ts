import type { Declaration } from '../kernel/nouns/declaration.ts';
import type { UserTables } from '../users/user-tables.ts';
import { LogoutDelivery } from './logout-delivery.entity.ts';
import { logoutTables } from './user-tables.ts';

const nouns = {
  'logout-delivery': { table: 'logout_deliveries' },
} as const;

const events = {
  'logout.address_refused': ['sign-in', 'A post-logout redirect URI of {subject} was refused'],
  'logout-delivery.failed': ['applications', 'A logout to {subject} failed'],
  'logout-delivery.omitted': ['applications', 'No logout token was sent about {subject}'],
  'logout-delivery.retried': ['applications', '{actor} retried a logout to {subject}'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    logout: typeof nouns;
  }
  interface Events {
    logout: typeof events;
  }
}

export const logoutNouns = {
  nouns,
  events,
  entities: [LogoutDelivery],
  userTables: [logoutTables],
} satisfies Declaration<UserTables>;
