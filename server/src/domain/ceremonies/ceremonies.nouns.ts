import type { Declaration } from '../kernel/nouns/declaration.ts';
import type { UserTables } from '../users/user-tables.ts';
import { Ceremony } from './ceremony.entity.ts';
import { AuthorizationRequest } from './requests/authorization-request.entity.ts';
import { PushedRequest } from './requests/pushed-request.entity.ts';
import { ceremonyTables } from './user-tables.ts';

const nouns = {
  'authorization-request': {},
} as const;

const events = {
  'authorization.refused': ['sign-in', 'A sign-in request of {subject} was refused'],
  'signin.network_limited': ['sign-in', '{subject} requested too many codes'],
  'signin.refused': ['sign-in', 'A step of the sign-in of {subject} was refused'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    ceremonies: typeof nouns;
  }
  interface Events {
    ceremonies: typeof events;
  }
}

export const ceremoniesNouns = {
  nouns,
  events,
  entities: [AuthorizationRequest, PushedRequest, Ceremony],
  userTables: [ceremonyTables],
} satisfies Declaration<UserTables>;
