import type { Declaration } from '../kernel/nouns/declaration.ts';
import { ownTables, type UserTables } from '../users/user-tables.ts';
import { auditTables, experienceTables, messageTables } from './user-tables.ts';

export const messagesToUsers = { userTables: [messageTables] } satisfies Declaration<UserTables>;

export const accountsNouns = {
  userTables: [experienceTables, ownTables, auditTables],
} satisfies Declaration<UserTables>;
