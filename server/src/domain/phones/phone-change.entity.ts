import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { User } from '../users/user.entity.ts';

const schema = defineEntity({
  name: 'PhoneChange',
  tableName: 'phone_changes',
  properties: {
    id: key(),
    user: () => p.manyToOne(User).ref().deleteRule('cascade').index(),
    /** The sign-in or session that started it; its code is valid only there. */
    boundTo: p.uuid().unique(),
    /** The new number, E.164. */
    phone: p.text(),
    createdAt: instant(),
    expiresAt: instant().index(),
  },
});

/** A pending change to a new, unverified phone number. */
export class PhoneChange extends schema.class {}
schema.setClass(PhoneChange);
