import { defineEntity, p } from '@mikro-orm/core';
import { Project } from '../projects/project.entity.ts';

const schema = defineEntity({
  name: 'ActivityDay',
  tableName: 'activity_days',
  properties: {
    project: () => p.manyToOne(Project).ref().primary().deleteRule('cascade'),
    /** In UTC. */
    day: p.date().primary(),
    signIns: p.integer(),
    signInsOnKnownDevices: p.integer(),
    activeUsers: p.integer(),
    codesSent: p.integer(),
    codesVerified: p.integer(),
    /** From sending to entering, of all that were entered together. */
    codeSeconds: p.integer(),
    refused: p.integer(),
    logoutsDelivered: p.integer(),
    logoutsFailed: p.integer(),
  },
});

/** Totals of a past day, counted once, so that charts do not count millions of events. */
export class ActivityDay extends schema.class {}
schema.setClass(ActivityDay);
