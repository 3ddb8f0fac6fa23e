import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../kernel/columns.ts';
import { impliedTenant, sameProject } from '../../projects/tenant.ts';
import { User } from '../../users/user.entity.ts';

const schema = defineEntity({
  name: 'AccountDeletion',
  tableName: 'account_deletions',
  properties: {
    project: impliedTenant,
    user: () => sameProject(User, 'user_id').primary(),
    /** SHA-256 of the secret in the link that cancels it; null after an import without secrets. */
    cancelHash: p.text().nullable(),
    createdAt: instant(),
    /** The job deletes the user then. */
    dueAt: instant().index(),
  },
});

/** A user's request to delete their own account. */
export class AccountDeletion extends schema.class {}
schema.setClass(AccountDeletion);
