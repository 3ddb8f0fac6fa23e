import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { Project } from '../projects/project.entity.ts';

export const streamKinds = ['http', 'syslog', 'file'] as const;
export type StreamKind = (typeof streamKinds)[number];

/** Body of a batch over HTTP: one event per line, or one array. */
export const batchFormats = ['json-lines', 'json-array'] as const;
export type BatchFormat = (typeof batchFormats)[number];

const schema = defineEntity({
  name: 'LogStream',
  tableName: 'log_streams',
  properties: {
    id: key(),
    /** Null: of the instance, with the events of the instance and of all projects. */
    project: () => p.manyToOne(Project).ref().nullable().deleteRule('cascade').updateRule('no action'),
    kind: p.text().$type<StreamKind>(),
    /** An https URL, `tls://host:port`, or the name of a file. */
    target: p.text(),
    description: p.text().default(''),
    /** Event types, or `noun.*`; empty: all. */
    types: p.array().columnType('text[]'),
    format: p.text().$type<BatchFormat>(),
    gzip: p.boolean().default(false),
    /** Name of the HTTP header with the secret; null: none. */
    header: p.text().nullable(),
    sealedSecret: p.blob().nullable(),
    paused: p.boolean().default(false),
    /** The last position of its log that the receiver has accepted. */
    position: p.bigint('number'),
    /** Batches that failed since the last success. */
    failures: p.integer().default(0),
    failingSince: instant().nullable(),
    lastError: p.text().nullable(),
    lastDeliveredAt: instant().nullable(),
    /** Nothing is sent before; null: no wait. */
    nextAttemptAt: instant().nullable(),
    /** The process that delivers, until `leasedUntil`. */
    lease: p.uuid().nullable(),
    leasedUntil: instant().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
  },
});

/** A receiver of audit events, in batches and in order. */
export class LogStream extends schema.class {}
schema.setClass(LogStream);
