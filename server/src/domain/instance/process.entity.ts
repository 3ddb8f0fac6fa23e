import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';

const schema = defineEntity({
  name: 'Process',
  tableName: 'processes',
  properties: {
    id: key(),
    host: p.text(),
    pid: p.integer(),
    version: p.text(),
    nodeVersion: p.text(),
    startedAt: instant(),
    /** Time of the last heartbeat. */
    seenAt: instant(),
    /** Duration of one ES512 signature, measured at the start. */
    signMicroseconds: p.integer().nullable(),
    /** Milliseconds by which the database's clock is ahead of this process's. */
    clockSkewMs: p.integer(),
  },
});

/** A running server on this database. */
export class Process extends schema.class {}
schema.setClass(Process);
