import { defineEntity, p } from '@mikro-orm/core';

const schema = defineEntity({
  name: 'ActivityProgress',
  tableName: 'activity_progress',
  properties: {
    /** Only one row, `days`. */
    id: p.text().primary(),
    /** All days before this one are counted. */
    countedBefore: p.date(),
  },
});

/** Progress of counting days. */
export class ActivityProgress extends schema.class {}
schema.setClass(ActivityProgress);
