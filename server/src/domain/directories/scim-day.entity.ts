import { defineEntity, p } from '@mikro-orm/core';
import { tenant } from '../projects/tenant.ts';

const schema = defineEntity({
  name: 'ScimDay',
  tableName: 'scim_days',
  properties: {
    project: tenant,
    /** In UTC. */
    day: p.date().primary(),
    requests: p.integer(),
    /** Answered 4xx. */
    refused: p.integer(),
    /** Answered 5xx. */
    failed: p.integer(),
  },
});

/** Number of SCIM requests on a day; the records of requests are kept for a week only. */
export class ScimDay extends schema.class {}
schema.setClass(ScimDay);
