import type { Declaration } from '../kernel/nouns/declaration.ts';
import type { UserTables } from '../users/user-tables.ts';
import { EmailChange, PhoneChange } from './pending-change.entity.ts';
import { contactTables } from './user-tables.ts';

export const contactsNouns = {
  entities: [PhoneChange, EmailChange],
  userTables: [contactTables],
} satisfies Declaration<UserTables>;
