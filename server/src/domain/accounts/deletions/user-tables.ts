import { sql } from '../../kernel/sql.ts';
import { ofUser, type UserTables } from '../../users/user-tables.ts';
import { takeDeletion } from './pending-deletions.ts';

/** `Accounts` cancels a deletion when the user is deactivated. */
export const deletionTables: UserTables = {
  tables: ['account_deletions'],
  /** Requested by the previous holder of the account. */
  handOver: (em, user) => takeDeletion(em, user),
  exportRows: {
    accountDeletion: (user) => sql`
      select d.user_id as id, d.created_at as "createdAt", d.due_at as "dueAt" from account_deletions d
      where ${ofUser(user, 'd')}`,
  },
};
