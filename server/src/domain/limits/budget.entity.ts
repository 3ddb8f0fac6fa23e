import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../kernel/columns.ts';

const schema = defineEntity({
  name: 'Budget',
  tableName: 'budgets',
  properties: {
    /** `<rule>:<SHA-256 of what it counts for>`: no address stands here in the clear. */
    id: p.text().primary(),
    spent: p.integer(),
    resetsAt: instant().index(),
  },
});

/** How much of a limit is used up in its present window. Counted by one atomic statement. */
export class Budget extends schema.class {}
schema.setClass(Budget);
