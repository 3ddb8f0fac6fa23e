import { defineEntity, p } from '@mikro-orm/core';
import { Project } from '../projects/project.entity.ts';

const schema = defineEntity({
  name: 'UserCount',
  tableName: 'user_counts',
  properties: {
    project: () => p.manyToOne(Project).ref().primary().deleteRule('cascade'),
    /** One of several rows, so that transactions at once seldom wait for each other's. */
    slot: p.smallint().primary(),
    /** The sum over all slots is the number of users; one slot alone may be below 0. */
    users: p.integer(),
  },
});

/** How many users a project has, kept by triggers on the users. */
export class UserCount extends schema.class {}
schema.setClass(UserCount);
