import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../kernel/columns.ts';

const schema = defineEntity({
  name: 'RepeatedRefusal',
  tableName: 'repeated_refusals',
  properties: {
    /** `instanceId` for refusals by the instance. */
    projectId: p.uuid().primary(),
    /** Hash of the fields that the counted refusals share. */
    key: p.text().primary(),
    eventId: p.uuid(),
    expiresAt: instant().index('repeated_refusals_expires_at_index'),
  },
});

/** The event that counts equal refusals of one hour. */
export class RepeatedRefusal extends schema.class {}
schema.setClass(RepeatedRefusal);
