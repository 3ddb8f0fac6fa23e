import { defineEntity, p } from '@mikro-orm/core';
import { tenant } from '../projects/tenant.ts';

const schema = defineEntity({
  name: 'ActivityDay',
  tableName: 'activity_days',
  properties: {
    project: tenant,
    /** In UTC. */
    day: p.date().primary(),
    signIns: p.integer(),
    signInsOnKnownDevices: p.integer(),
    signInsWithPasskeys: p.integer().default(0),
    activeUsers: p.integer(),
    codesSent: p.integer(),
    codesVerified: p.integer(),
    /** Sum over all accepted codes, from sending to entering. */
    codeSeconds: p.integer(),
    refused: p.integer(),
    logoutsDelivered: p.integer(),
    logoutsFailed: p.integer(),
  },
});

/** Totals of a past day, so that charts do not count millions of events. */
export class ActivityDay extends schema.class {}
schema.setClass(ActivityDay);
