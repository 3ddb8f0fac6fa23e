import type { Declaration } from '../kernel/nouns/declaration.ts';
import type { UserTables } from '../users/user-tables.ts';
import { KnownNetwork } from './known-network.entity.ts';
import { OneTimeCode } from './one-time-code.entity.ts';
import { otpTables } from './user-tables.ts';

export const otpNouns = {
  entities: [OneTimeCode, KnownNetwork],
  userTables: [otpTables],
} satisfies Declaration<UserTables>;
