import { defineEntity, p } from '@mikro-orm/core';
import type { Actor } from '../kernel/actor.ts';
import { instant, key } from '../kernel/columns.ts';
import { Project } from '../projects/project.entity.ts';

const schema = defineEntity({
  name: 'AuditEvent',
  tableName: 'audit_events',
  properties: {
    id: key(),
    /** Absent for events of the instance. */
    project: () => p.manyToOne(Project).ref().nullable().deleteRule('cascade'),
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
    /** Hash of the fields that the refusals counted by this event share. */
    repeatKey: p.text().nullable(),
  },
  indexes: [
    { name: 'audit_events_project_id_id_index', properties: ['project', 'id'] },
    { name: 'audit_events_project_id_type_id_index', properties: ['project', 'type', 'id'] },
    { name: 'audit_events_subject_id_id_index', properties: ['subjectId', 'id'] },
    { name: 'audit_events_actor_id_id_index', properties: ['actorId', 'id'] },
  ],
});

/** An action or a refused attempt. Written in the transaction of the action. */
export class AuditEvent extends schema.class {}
schema.setClass(AuditEvent);
