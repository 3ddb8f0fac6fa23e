import type { Declaration } from '../kernel/nouns/declaration.ts';
import type { UserTables } from '../users/user-tables.ts';
import { Consent } from './consent.entity.ts';
import { consentTables } from './user-tables.ts';

const nouns = {
  consent: { table: 'consents' },
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    consents: typeof nouns;
  }
}

export const consentsNouns = {
  nouns,
  entities: [Consent],
  userTables: [consentTables],
} satisfies Declaration<UserTables>;
