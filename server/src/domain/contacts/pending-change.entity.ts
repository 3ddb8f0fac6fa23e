import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { User } from '../users/user.entity.ts';

const phone = pendingChange('PhoneChange', 'phone_changes', 'phone');
/** A pending change to a new, unverified phone number, E.164. */
export class PhoneChange extends phone.class {}
phone.setClass(PhoneChange);

const email = pendingChange('EmailChange', 'email_changes', 'email');
/** A pending change to a new, unverified email address. */
export class EmailChange extends email.class {}
email.setClass(EmailChange);

function pendingChange(name: string, tableName: string, column: string) {
  return defineEntity({
    name,
    tableName,
    properties: {
      project: impliedTenant,
      id: key(),
      user: () => sameProject(User, 'user_id'),
      /** The sign-in or session that started it; its code is valid only there. */
      boundTo: p.uuid(),
      value: p.text().fieldName(column),
      createdAt: instant(),
      expiresAt: instant().index(),
    },
    uniques: [{ name: `${tableName}_project_id_bound_to_unique`, properties: ['project', 'boundTo'] }],
  });
}
