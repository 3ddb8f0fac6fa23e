import { defineEntity, p } from '@mikro-orm/core';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { User } from './user.entity.ts';

const schema = defineEntity({
  name: 'UserEmail',
  tableName: 'user_emails',
  properties: {
    project: impliedTenant,
    user: () => sameProject(User, 'user_id').primary(),
    /** Case-insensitive key of the address. */
    valueKey: p.text().primary(),
  },
  indexes: [
    {
      name: 'user_emails_project_id_value_key_index',
      expression:
        'create index "user_emails_project_id_value_key_index" on "user_emails" ("project_id", "value_key" collate "C", "user_id")',
    },
  ],
});

/** Index of all email addresses of users, for SCIM filters. */
export class UserEmail extends schema.class {}
schema.setClass(UserEmail);
