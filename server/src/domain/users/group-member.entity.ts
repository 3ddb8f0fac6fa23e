import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../kernel/columns.ts';
import { Group } from './group.entity.ts';
import { User } from './user.entity.ts';

const schema = defineEntity({
  name: 'GroupMember',
  tableName: 'group_members',
  properties: {
    group: () => p.manyToOne(Group).ref().primary().deleteRule('cascade'),
    user: () => p.manyToOne(User).ref().primary().deleteRule('cascade').index(),
    createdAt: instant(),
  },
});

/** Membership of a user in a group of the same project. */
export class GroupMember extends schema.class {}
schema.setClass(GroupMember);
