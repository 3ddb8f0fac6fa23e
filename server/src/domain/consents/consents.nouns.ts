import type { Declaration } from '../kernel/nouns/declaration.ts';
import type { UserTables } from '../users/user-tables.ts';
import { Consent } from './consent.entity.ts';
import { consentTables } from './user-tables.ts';

const nouns = {
  consent: { table: 'consents' },
} as const;

const events = {
  'consent.given': ['sign-in', '{subject} gave {client} access'],
  'consent.refused': ['sign-in', '{subject} refused {client} access'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    consents: typeof nouns;
  }
  interface Events {
    consents: typeof events;
  }
}

export const consentsNouns = {
  nouns,
  events,
  entities: [Consent],
  userTables: [consentTables],
} satisfies Declaration<UserTables>;
