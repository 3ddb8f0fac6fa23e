import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import type { UserTables } from '../users/user-tables.ts';
import { SignUpRequest } from './sign-up-request.entity.ts';
import { signUpTables } from './user-tables.ts';

const nouns = {
  'sign-up-request': { table: 'sign_up_requests' },
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    signups: typeof nouns;
  }
}

export const signupsNouns = {
  nouns,
  entities: [SignUpRequest],
  transfer: [{ type: 'sign-up-request', table: 'sign_up_requests', parent: childOf('project'), key: ['id'] }],
  userTables: [signUpTables],
} satisfies Declaration<UserTables>;
