import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../kernel/columns.ts';

const schema = defineEntity({
  name: 'RetentionProgress',
  tableName: 'retention_progress',
  properties: {
    /** Only one row, `time`. */
    id: p.text().primary(),
    at: instant(),
  },
});

/** The time by which retention periods are counted, see `retentionNow`. */
export class RetentionProgress extends schema.class {}
schema.setClass(RetentionProgress);
