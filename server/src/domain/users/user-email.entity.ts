import { defineEntity, p } from '@mikro-orm/core';
import { Project } from '../projects/project.entity.ts';
import { User } from './user.entity.ts';

const schema = defineEntity({
  name: 'UserEmail',
  tableName: 'user_emails',
  properties: {
    user: () => p.manyToOne(User).ref().primary().deleteRule('cascade'),
    /** Case-insensitive key of the address. */
    valueKey: p.text().primary(),
    project: () => p.manyToOne(Project).ref().deleteRule('cascade'),
  },
  indexes: [
    {
      name: 'user_emails_project_id_value_key_index',
      expression:
        'create index "user_emails_project_id_value_key_index" on "user_emails" ("project_id", "value_key" collate "C", "user_id")',
    },
  ],
});

/** Index of all e-mail addresses of users, for SCIM filters. */
export class UserEmail extends schema.class {}
schema.setClass(UserEmail);
