import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../kernel/columns.ts';

const schema = defineEntity({
  name: 'Budget',
  tableName: 'budgets',
  properties: {
    /** `<rule>:<keyed hash of the subject>`: without the master key, no subject can be confirmed by guessing it. */
    id: p.text().primary(),
    spent: p.integer(),
    resetsAt: instant().index(),
  },
});

/** How much of a limit is used up in its present window. Counted by one atomic statement. */
export class Budget extends schema.class {}
schema.setClass(Budget);
