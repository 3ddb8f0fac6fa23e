import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { User } from '../users/user.entity.ts';

const schema = defineEntity({
  name: 'PhoneChange',
  tableName: 'phone_changes',
  properties: {
    project: impliedTenant,
    id: key(),
    user: () => sameProject(User, 'user_id'),
    /** The sign-in or session that started it; its code is valid only there. */
    boundTo: p.uuid(),
    /** The new number, E.164. */
    phone: p.text(),
    createdAt: instant(),
    expiresAt: instant().index(),
  },
  uniques: [{ name: 'phone_changes_project_id_bound_to_unique', properties: ['project', 'boundTo'] }],
});

/** A pending change to a new, unverified phone number. */
export class PhoneChange extends schema.class {}
schema.setClass(PhoneChange);
