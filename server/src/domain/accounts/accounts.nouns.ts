import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import { ownTables, type UserTables } from '../users/user-tables.ts';
import { AccountDeletion } from './deletions/account-deletion.entity.ts';
import { deletionTables } from './deletions/user-tables.ts';
import { auditTables, experienceTables, messageTables } from './user-tables.ts';

export const messagesToUsers = { userTables: [messageTables] } satisfies Declaration<UserTables>;

export const accountsNouns = {
  entities: [AccountDeletion],
  transfer: [
    {
      type: 'account-deletion',
      table: 'account_deletions',
      parent: childOf('user'),
      key: ['user_id'],
      secrets: [{ column: 'cancel_hash' }],
    },
  ],
  userTables: [deletionTables, experienceTables, ownTables, auditTables],
} satisfies Declaration<UserTables>;
