import { defineEntity, p } from '@mikro-orm/core';
import { tenant } from '../projects/tenant.ts';

const schema = defineEntity({
  name: 'UserCount',
  tableName: 'user_counts',
  properties: {
    project: tenant,
    /** Several rows per project, so that concurrent transactions seldom block each other. */
    slot: p.smallint().primary(),
    /** The sum over all slots is the number of users; a single slot may be below 0. */
    users: p.integer(),
    /** Those of them who are at home in organizations. */
    inOrganizations: p.integer().default(0),
  },
});

/** The number of users of a project (`user-counts.ts`). */
export class UserCount extends schema.class {}
schema.setClass(UserCount);
