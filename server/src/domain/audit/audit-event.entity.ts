import { defineEntity, p } from '@mikro-orm/core';
import type { Actor } from '../kernel/actor.ts';
import { instant, key } from '../kernel/columns.ts';

/** The project of the instance's own events: the nil UUID (RFC 9562 §5.9). */
export const instanceId = '00000000-0000-0000-0000-000000000000';

const schema = defineEntity({
  name: 'AuditEvent',
  tableName: 'audit_log',
  properties: {
    /** {@link instanceId} for events of the instance. */
    projectId: p.uuid().primary(),
    id: key(),
    at: instant(),
    /** `noun.verb` in the past tense, e.g. `client.created`. */
    type: p.text(),
    result: p.text().$type<'success' | 'failure'>(),
    actorKind: p.text().$type<Actor['kind']>(),
    actorId: p.text().nullable(),
    actorName: p.text().nullable(),
    subjectKind: p.text().nullable(),
    subjectId: p.text().nullable(),
    subjectName: p.text().nullable(),
    clientId: p.uuid().nullable(),
    /** Values before and after, reasons; never a secret. */
    detail: p.json<Record<string, unknown>>().nullable(),
    ip: p.text().nullable(),
    userAgent: p.text().nullable(),
    requestId: p.text().nullable(),
    /** Unused; commit 5ffac69 selects it. The release after 1.0 drops it. */
    repeatKey: p.text().nullable(),
  },
  indexes: [
    { name: 'audit_log_id_index', properties: ['id'] },
    { name: 'audit_log_project_id_type_id_index', properties: ['projectId', 'type', 'id'] },
    { name: 'audit_log_subject_id_id_index', properties: ['subjectId', 'id'] },
    { name: 'audit_log_actor_id_id_index', properties: ['actorId', 'id'] },
  ],
});

/** An action or a refused attempt. Written in the transaction of the action. The table has a partition per month. */
export class AuditEvent extends schema.class {}
schema.setClass(AuditEvent);
