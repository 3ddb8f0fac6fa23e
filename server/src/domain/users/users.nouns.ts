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
  group: { table: 'groups', organization: 'organization_id' },
  'custom-attribute': {},
} as const;

const events = {
  'custom-attribute.created': ['directory', '{actor} created the custom attribute {subject}'],
  'custom-attribute.deleted': ['directory', '{actor} deleted the custom attribute {subject}'],
  'custom-attribute.updated': ['directory', '{actor} changed the custom attribute {subject}'],
  'group.created': ['people', '{actor} created the group {subject}'],
  'group.deleted': ['people', '{actor} deleted the group {subject}'],
  'group.updated': ['people', '{actor} changed the group {subject}'],
  'user.approval_given': ['people', '{actor} approved the sign-up of {subject}'],
  'user.approval_refused': ['people', '{actor} declined the sign-up of {subject}'],
  'user.approval_requested': ['people', '{subject} asked to sign up'],
  'user.created': ['people', '{actor} created the user {subject}'],
  'user.deletion_cancelled': ['people', '{actor} cancelled the deletion of {subject}'],
  'user.deletion_requested': ['people', '{subject} asked to delete the account'],
  'user.email_change_begun': ['sign-in', '{subject} began to change the email address'],
  'user.email_change_refused': ['sign-in', 'A change of the email address of {subject} was refused'],
  'user.email_changed': ['sign-in', 'The email address of {subject} was changed'],
  'user.erased': ['people', '{actor} erased a user'],
  'user.exported': ['people', '{actor} exported the data of {subject}'],
  'user.handed_over': ['people', 'The account {subject} passed to another person; credentials ended'],
  'user.invitation_revoked': ['people', '{actor} revoked the invitation of {subject}'],
  'user.invited': ['people', '{actor} invited {subject}'],
  'user.phone_change_begun': ['sign-in', '{subject} began to change the phone number'],
  'user.phone_change_refused': ['sign-in', 'A change of the phone number of {subject} was refused'],
  'user.phone_changed': ['sign-in', 'The phone number of {subject} was changed'],
  'user.signed_in': ['sign-in', '{subject} signed in'],
  'user.moved': ['people', '{actor} moved {subject} to another home'],
  'user.updated': ['people', '{actor} changed the user {subject}'],
  'users.exported': ['people', '{actor} exported a list of users'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    users: typeof nouns;
  }
  interface Events {
    users: typeof events;
  }
}

export const usersNouns = {
  nouns,
  events,
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
