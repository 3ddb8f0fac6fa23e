import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../kernel/columns.ts';

const schema = defineEntity({
  name: 'Budget',
  tableName: 'budgets',
  properties: {
    /** `<rule>:<keyed hash of the subject>`: without the master key, a guessed subject cannot be confirmed. */
    id: p.text().primary(),
    spent: p.integer(),
    resetsAt: instant().index(),
  },
});

/** Use of a limit in its current window. Counted by one atomic statement. */
export class Budget extends schema.class {}
schema.setClass(Budget);
