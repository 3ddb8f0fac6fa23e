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

/** A user's place in a group; both are of one project. */
export class GroupMember extends schema.class {}
schema.setClass(GroupMember);
