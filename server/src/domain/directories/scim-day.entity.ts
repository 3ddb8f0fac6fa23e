import { defineEntity, p } from '@mikro-orm/core';
import { Project } from '../projects/project.entity.ts';

const schema = defineEntity({
  name: 'ScimDay',
  tableName: 'scim_days',
  properties: {
    project: () => p.manyToOne(Project).ref().primary().deleteRule('cascade'),
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
