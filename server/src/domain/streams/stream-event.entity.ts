import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../kernel/columns.ts';

const schema = defineEntity({
  name: 'StreamEvent',
  tableName: 'stream_events',
  indexes: [{ name: 'stream_events_position_index', properties: ['projectId', 'position'] }],
  properties: {
    /** `instanceId` for the log of the instance. */
    projectId: p.uuid().primary(),
    eventId: p.uuid().primary(),
    queuedAt: instant().defaultRaw('clock_timestamp()'),
    /** Place in the log; null until the event is numbered. */
    position: p.bigint('number').nullable(),
  },
});

/** An audit event in the log that streams read. */
export class StreamEvent extends schema.class {}
schema.setClass(StreamEvent);
