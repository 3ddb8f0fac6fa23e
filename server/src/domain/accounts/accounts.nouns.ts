import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import { ownTables, type UserTables } from '../users/user-tables.ts';
import { AccountDeletion } from './deletions/account-deletion.entity.ts';
import { deletionTables } from './deletions/user-tables.ts';
import { auditTables, experienceTables, messageTables } from './user-tables.ts';

const events = {
  'impersonation.begun': ['sign-in', '{actor} began to impersonate {subject}'],
  'recovery.cancelled': ['sign-in', '{actor} cancelled the account recovery of {subject}'],
  'recovery.expired': ['sign-in', 'The account recovery of {subject} expired'],
  'recovery.granted': ['sign-in', '{actor} granted {subject} an account recovery'],
  'recovery.used': ['sign-in', '{subject} signed in with an account recovery'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Events {
    accounts: typeof events;
  }
}

export const messagesToUsers = { userTables: [messageTables] } satisfies Declaration<UserTables>;

export const accountsNouns = {
  events,
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
