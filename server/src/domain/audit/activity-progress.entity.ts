import { defineEntity, p } from '@mikro-orm/core';

const schema = defineEntity({
  name: 'ActivityProgress',
  tableName: 'activity_progress',
  properties: {
    /** There is one row, `days`. */
    id: p.text().primary(),
    /** All days before this one are counted. */
    countedBefore: p.date(),
  },
});

/** How far the days are counted. */
export class ActivityProgress extends schema.class {}
schema.setClass(ActivityProgress);
