import { defineEntity } from '@mikro-orm/core';
import { instant } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { Group } from './group.entity.ts';
import { User } from './user.entity.ts';

const schema = defineEntity({
  name: 'GroupMember',
  tableName: 'group_members',
  properties: {
    project: impliedTenant,
    group: () => sameProject(Group, 'group_id').primary(),
    user: () => sameProject(User, 'user_id').primary(),
    createdAt: instant(),
  },
});

/** Membership of a user in a group of the same project. */
export class GroupMember extends schema.class {}
schema.setClass(GroupMember);

const nesting = defineEntity({
  name: 'GroupNesting',
  tableName: 'group_nestings',
  properties: {
    project: impliedTenant,
    group: () => sameProject(Group, 'group_id').primary(),
    member: () => sameProject(Group, 'member_id').primary(),
    createdAt: instant(),
  },
  indexes: [{ name: 'group_nestings_project_id_member_id_index', properties: ['member'] }],
});

/** Membership of a group in another group of the same project. */
export class GroupNesting extends nesting.class {}
nesting.setClass(GroupNesting);
