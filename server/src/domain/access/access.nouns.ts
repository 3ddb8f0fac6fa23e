import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import type { UserTables } from '../users/user-tables.ts';
import { AccessRule } from './access-rule.entity.ts';
import { accessTables } from './user-tables.ts';

const nouns = {
  'access-rule': { table: 'access_rules' },
} as const;

const events = {
  'access.granted': ['people', '{actor} gave {subject} access to {client}'],
  'access.refused': ['sign-in', '{subject} has no access to {client}'],
  'access.removed': ['sign-in', '{actor} removed the access of {client} to the account of {subject}'],
  'access.revoked': ['people', '{actor} ended the access of {subject} to {client}'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    access: typeof nouns;
  }
  interface Events {
    access: typeof events;
  }
}

export const accessNouns = {
  nouns,
  events,
  entities: [AccessRule],
  transfer: [{ type: 'access-rule', table: 'access_rules', parent: childOf('client'), key: ['id'] }],
  userTables: [accessTables],
} satisfies Declaration<UserTables>;
