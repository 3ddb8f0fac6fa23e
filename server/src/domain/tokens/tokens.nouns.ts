import type { Declaration } from '../kernel/nouns/declaration.ts';
import type { UserTables } from '../users/user-tables.ts';
import { AuthorizationCode } from './authorization-code.entity.ts';
import { DeviceAuthorization } from './device/device-authorization.entity.ts';
import { RefreshGrant } from './refresh-grant.entity.ts';
import { tokenTables } from './user-tables.ts';

const nouns = {
  'refresh-grant': { table: 'refresh_grants' },
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    tokens: typeof nouns;
  }
}

export const tokensNouns = {
  nouns,
  entities: [AuthorizationCode, DeviceAuthorization, RefreshGrant],
  userTables: [tokenTables],
} satisfies Declaration<UserTables>;
