import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import { CustomSchemaRow } from './custom/custom-schema.entity.ts';
import { CustomValue } from './custom/custom-value.entity.ts';
import { Group } from './group.entity.ts';
import { GroupMember, GroupNesting } from './group-member.entity.ts';
import { Suspension } from './suspension/suspension.entity.ts';
import { User } from './user.entity.ts';
import { UserCount } from './user-count.entity.ts';
import { UserEmail } from './user-email.entity.ts';
import { groupTables, type UserTables } from './user-tables.ts';

const nouns = {
  user: { table: 'users' },
  group: { table: 'groups' },
  'custom-attribute': {},
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    users: typeof nouns;
  }
}

export const usersNouns = {
  nouns,
  entities: [User, UserCount, UserEmail, Suspension, CustomSchemaRow, CustomValue, Group, GroupMember, GroupNesting],
  transfer: [
    { type: 'user', table: 'users', parent: childOf('project'), key: ['id'] },
    { type: 'suspension', table: 'suspensions', parent: childOf('user'), key: ['user_id'], keepsOwn: true },
    {
      type: 'user-email',
      table: 'user_emails',
      parent: childOf('user'),
      key: ['user_id', 'value_key'],
      isDerived: true,
    },
    { type: 'custom-schema', table: 'custom_schemas', parent: childOf('project'), key: ['project_id'] },
    {
      type: 'custom-value',
      table: 'custom_values',
      parent: childOf('user'),
      key: ['user_id', 'attribute', 'key'],
      isDerived: true,
    },
    { type: 'group', table: 'groups', parent: childOf('project'), key: ['id'] },
    { type: 'group-member', table: 'group_members', parent: childOf('group'), key: ['group_id', 'user_id'] },
    { type: 'group-nesting', table: 'group_nestings', parent: childOf('group'), key: ['group_id', 'member_id'] },
  ],
  userTables: [groupTables],
} satisfies Declaration<UserTables>;
