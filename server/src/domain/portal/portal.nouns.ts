import type { Declaration } from '../kernel/nouns/declaration.ts';
import type { UserTables } from '../users/user-tables.ts';
import { PortalLink } from './portal-link.entity.ts';
import { portalTables } from './user-tables.ts';

const nouns = {
  'portal-link': { table: 'portal_links', organization: 'organization_id' },
} as const;

const events = {
  'portal-link.completed': ['people', '{subject} completed the set-up of {organization}'],
  'portal-link.created': ['people', '{actor} created a portal link of {organization} for {subject}'],
  'portal-link.opened': ['people', 'The portal link of {organization} for {subject} was opened'],
  'portal-link.revoked': ['people', '{actor} revoked the portal link of {organization} for {subject}'],
  'portal-link.sent': ['people', 'A new portal link of {organization} was sent to {subject}'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    portal: typeof nouns;
  }
  interface Events {
    portal: typeof events;
  }
}

// Not exported: its links lead to this instance.
export const portalNouns = {
  nouns,
  events,
  entities: [PortalLink],
  userTables: [portalTables],
} satisfies Declaration<UserTables>;
