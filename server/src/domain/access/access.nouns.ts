import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import type { UserTables } from '../users/user-tables.ts';
import { AccessRule } from './access-rule.entity.ts';
import { accessTables } from './user-tables.ts';

const nouns = {
  'access-rule': { table: 'access_rules' },
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    access: typeof nouns;
  }
}

export const accessNouns = {
  nouns,
  entities: [AccessRule],
  transfer: [{ type: 'access-rule', table: 'access_rules', parent: childOf('client'), key: ['id'] }],
  userTables: [accessTables],
} satisfies Declaration<UserTables>;
