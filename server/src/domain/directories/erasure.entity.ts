import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { tenant } from '../projects/tenant.ts';

const schema = defineEntity({
  name: 'Erasure',
  tableName: 'scim_erasures',
  properties: {
    project: tenant,
    /** The ID of the user. */
    id: key(),
    at: instant().index(),
    /** See `hashedMarks`. */
    marks: p.array().columnType('text[]'),
  },
  indexes: [
    {
      name: 'scim_erasures_marks_index',
      expression:
        'create index "scim_erasures_marks_index" on "scim_erasures" using gin ("marks") with (fastupdate = off)',
    },
  ],
});

/** A user erased within the last hour: records of requests that are still queued may concern them. */
export class Erasure extends schema.class {}
schema.setClass(Erasure);
