import type { Declaration } from '../kernel/nouns/declaration.ts';
import type { UserTables } from '../users/user-tables.ts';
import { Ceremony } from './ceremony.entity.ts';
import { AuthorizationRequest } from './requests/authorization-request.entity.ts';
import { PushedRequest } from './requests/pushed-request.entity.ts';
import { ceremonyTables } from './user-tables.ts';

const nouns = {
  'authorization-request': {},
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    ceremonies: typeof nouns;
  }
}

export const ceremoniesNouns = {
  nouns,
  entities: [AuthorizationRequest, PushedRequest, Ceremony],
  userTables: [ceremonyTables],
} satisfies Declaration<UserTables>;
