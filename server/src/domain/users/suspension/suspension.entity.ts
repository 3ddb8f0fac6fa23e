import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../kernel/columns.ts';
import { impliedTenant, sameProject } from '../../projects/tenant.ts';
import { User } from '../user.entity.ts';

const schema = defineEntity({
  name: 'Suspension',
  tableName: 'suspensions',
  properties: {
    project: impliedTenant,
    user: () => sameProject(User, 'user_id').primary(),
    suspendedAt: instant(),
    userNameKey: p.text(),
    /** Of the login email, by `addressKey`. */
    emailKey: p.text().nullable(),
    /** The login phone. */
    phone: p.text().nullable(),
    externalId: p.text().nullable(),
  },
  indexes: [
    { name: 'suspensions_project_id_user_name_key_index', properties: ['project', 'userNameKey'] },
    { name: 'suspensions_project_id_email_key_index', properties: ['project', 'emailKey'] },
    { name: 'suspensions_project_id_phone_index', properties: ['project', 'phone'] },
  ],
});

/** The identity of an inactive user when they were deactivated (decisions/0300). */
export class Suspension extends schema.class {}
schema.setClass(Suspension);
