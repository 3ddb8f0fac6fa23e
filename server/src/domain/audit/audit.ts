import type { EntityManager } from '@mikro-orm/postgresql';
import type { Actor } from '../kernel/actor.ts';
import { type Clock, seconds, secondsLater } from '../kernel/clock.ts';
import { networkOf } from '../kernel/network.ts';
import type { Random } from '../kernel/random.ts';
import { digest } from '../kernel/secret.ts';
import { type Executing, execute, type Fragment, sql } from '../kernel/sql.ts';
import { AuditEvent, instanceId } from './audit-event.entity.ts';
import type { EventType } from './event-types.ts';

/** An event to record. */
export interface AuditEntry {
  /** `noun.verb` in the past tense, e.g. `client.created`. */
  type: EventType;
  actor: Actor;
  /** Absent for events of the instance. */
  projectId?: string | undefined;
  result?: 'success' | 'failure';
  subject?: { kind: string; id: string; name?: string | undefined };
  clientId?: string | undefined;
  /** Values before and after, reasons; never a secret. */
  detail?: Record<string, unknown>;
}

/** The fields of an event about a client. */
export function aboutClient({ project, id, name }: { project: { id: string }; id: string; name: string }) {
  return { projectId: project.id, clientId: id, subject: { kind: 'client', id, name } };
}

/**
 * SQL: records an event of a client about a user for each row of `from` (`project_id`, `client_id`, `user_id`,
 * `user_name`).
 */
export function eventOfClient(
  { id, at, type, actor, detail }: { id: string; at: Date; type: EventType; actor: Actor; detail?: object },
  from: Fragment,
): Fragment {
  const { ip, userAgent, requestId } = actor;
  const further = detail && { name: sql`, detail`, value: sql`, ${JSON.stringify(detail)}::jsonb` };
  return sql`insert into audit_log (id, project_id, at, type, result, actor_kind, actor_id, subject_kind, subject_id,
      subject_name, client_id, ip, user_agent, request_id${further?.name ?? sql``})
    select ${id}::uuid, project_id, ${at}::timestamptz, ${type}, 'success', 'client', client_id, 'user', user_id,
      user_name, client_id, ${ip ?? null}::text, ${userAgent ?? null}::text, ${requestId ?? null}::text${further?.value ?? sql``}
    from ${from}`;
}

/** SQL: records an event of a client about itself for each row of `from` (`project_id`, `client_id`, `client_name`). */
export function ownEventOfClient(
  { id, at, type, actor }: { id: string; at: Date; type: EventType; actor: Actor },
  from: Fragment,
): Fragment {
  const { ip, userAgent, requestId } = actor;
  return sql`insert into audit_log (id, project_id, at, type, result, actor_kind, actor_id, actor_name, subject_kind, subject_id,
      subject_name, client_id, ip, user_agent, request_id)
    select ${id}::uuid, project_id, ${at}::timestamptz, ${type}, 'success', 'client', client_id, client_name, 'client', client_id,
      client_name, client_id, ${ip ?? null}::text, ${userAgent ?? null}::text, ${requestId ?? null}::text
    from ${from}`;
}

const hourSeconds = 3600;
/** Maximum number of request ids that an event of repeated refusals keeps. */
const keptRequests = 10;

/** The audit log. Joins the caller's transaction: the event commits with the action, or not at all. */
export class Audit {
  /** @param onRecord called for each event as it is written, for metrics; its transaction may still be rolled back */
  constructor(
    private readonly deps: {
      clock: Clock;
      random: Random;
      onRecord?: ((type: EventType, result: string) => void) | undefined;
    },
  ) {}

  /** Written when `em`'s transaction commits. */
  record(em: EntityManager, entry: AuditEntry): AuditEvent {
    const event = em.create(AuditEvent, this.valuesOf(entry));
    em.persist(event);
    return event;
  }

  /**
   * Records a refusal that anyone can cause repeatedly. All with the same type, project, client, fault and network (a
   * /64 of IPv6) within an hour are ONE event: the first, whose `detail` gets `count`, `firstAt`, `lastAt` and the
   * newest `requestIds`. The subject and the id of the sign-in are dropped once the refusals differ in them.
   *
   * Call it for unknown addresses as for known ones, and last: its row stays locked until `em` commits.
   *
   * @param em a transaction, or `db.alone`
   * @param fault the reason, a constant; events are also grouped by `entry.detail`, which must be constant, too
   * @param more.each `subject`: one event for each subject. Only where another limit bounds their number.
   * @param more.ofFirst further detail, of the first refusal only
   * @param more.ofLast further detail, of the newest refusal
   */
  async recordRepeated(
    em: Executing,
    entry: AuditEntry,
    fault: string,
    {
      each,
      ofFirst,
      ofLast = {},
    }: { each?: 'subject'; ofFirst?: Record<string, unknown>; ofLast?: Record<string, unknown> } = {},
  ): Promise<void> {
    const it = this.valuesOf(entry);
    const network = networkOf(entry.actor.ip);
    const hour = Math.floor(seconds(it.at) / hourSeconds);
    const about = each === 'subject' ? [it.subjectKind, it.subjectId] : [];
    const key = digest(
      JSON.stringify([it.projectId, it.type, it.clientId, fault, entry.detail ?? null, network, hour, ...about]),
    );
    const [firstAt, lastAt] = [it.at.toISOString(), it.at.toISOString()];
    const requestIds = it.requestId === null ? [] : [it.requestId];
    const more = { ...ofFirst, ...ofLast };
    const detail = JSON.stringify({ ...it.detail, ...more, fault, network, count: 1, firstAt, lastAt, requestIds });
    await execute(
      em,
      sql`with known as (
          insert into repeated_refusals as r (project_id, key, event_id, expires_at)
          values (${it.projectId}::uuid, ${key}, ${it.id}::uuid, ${secondsLater(it.at, hourSeconds)}::timestamptz)
          on conflict (project_id, key) do update set event_id = r.event_id
          returning event_id)
        insert into audit_log as e (id, project_id, at, type, result, actor_kind, actor_id, actor_name,
          subject_kind, subject_id, subject_name, client_id, detail, ip, user_agent, request_id)
        select known.event_id, ${it.projectId}::uuid, ${it.at}::timestamptz, ${it.type}, 'failure', ${it.actorKind},
          ${it.actorId}, ${it.actorName}, ${it.subjectKind}, ${it.subjectId}, ${it.subjectName}, ${it.clientId}::uuid,
          ${detail}::jsonb, ${it.ip}, ${it.userAgent}, ${it.requestId}
        from known
        on conflict (project_id, id) do update set
          detail = case when e.detail->>'signInId' = excluded.detail->>'signInId' then e.detail else e.detail - 'signInId' end
            || ${JSON.stringify(ofLast)}::jsonb
            || jsonb_build_object('count', (e.detail->>'count')::int + 1,
            'lastAt', greatest(e.detail->>'lastAt', excluded.detail->>'lastAt'),
            'requestIds', case when jsonb_array_length(e.detail->'requestIds') >= ${keptRequests}
              then (e.detail->'requestIds') - 0 else coalesce(e.detail->'requestIds', '[]') end
              || (excluded.detail->'requestIds')),
          subject_kind = case when e.subject_id = excluded.subject_id then e.subject_kind end,
          subject_name = case when e.subject_id = excluded.subject_id then e.subject_name end,
          subject_id = case when e.subject_id = excluded.subject_id then e.subject_id end`,
      { prepare: 'audit.record-repeated' },
    );
  }

  /** Like {@link record}, several events as SQL: the part of a statement that makes the changes, of constant text. */
  insertions(entries: readonly AuditEntry[]): Fragment {
    const rows = JSON.stringify(entries.map((entry) => this.valuesOf(entry)));
    return sql`insert into audit_log (id, project_id, at, type, result, actor_kind, actor_id, actor_name, subject_kind,
        subject_id, subject_name, client_id, detail, ip, user_agent, request_id)
      select (x->>'id')::uuid, (x->>'projectId')::uuid, (x->>'at')::timestamptz, x->>'type', x->>'result', x->>'actorKind',
        x->>'actorId', x->>'actorName', x->>'subjectKind', x->>'subjectId', x->>'subjectName', (x->>'clientId')::uuid,
        nullif(x->'detail', 'null'), x->>'ip', x->>'userAgent', x->>'requestId'
      from jsonb_array_elements(${rows}::jsonb) x`;
  }

  /** Like {@link record}, as SQL for the statement that makes the change; writes if `condition` is true. */
  insertion(entry: AuditEntry, condition: Fragment = sql`true`): Fragment {
    const it = this.valuesOf(entry);
    return sql`insert into audit_log (id, project_id, at, type, result, actor_kind, actor_id, actor_name,
        subject_kind,
        subject_id, subject_name, client_id, detail, ip, user_agent, request_id)
      select ${it.id}::uuid, ${it.projectId}::uuid, ${it.at}::timestamptz, ${it.type}, ${it.result}, ${it.actorKind},
        ${it.actorId}, ${it.actorName}, ${it.subjectKind}, ${it.subjectId}, ${it.subjectName}, ${it.clientId}::uuid,
        ${it.detail === null ? null : JSON.stringify(it.detail)}::jsonb, ${it.ip}, ${it.userAgent}, ${it.requestId}
      where ${condition}`;
  }

  /** Deletes all events of a project. */
  async deleteEventsOf(em: EntityManager, projectId: string): Promise<void> {
    await execute(em, sql`delete from audit_log where project_id = ${projectId}`);
  }

  private valuesOf({ actor, subject, ...entry }: AuditEntry) {
    this.deps.onRecord?.(entry.type, entry.result ?? 'success');
    return {
      id: this.deps.random.id(),
      projectId: entry.projectId ?? instanceId,
      at: this.deps.clock.now(),
      type: entry.type,
      result: entry.result ?? ('success' as const),
      actorKind: actor.kind,
      actorId: actor.id ?? null,
      actorName: actor.name ?? null,
      subjectKind: subject?.kind ?? null,
      subjectId: subject?.id ?? null,
      subjectName: subject?.name ?? null,
      clientId: entry.clientId ?? null,
      detail: actor.signInId === undefined ? (entry.detail ?? null) : { ...entry.detail, signInId: actor.signInId },
      ip: actor.ip ?? null,
      userAgent: actor.userAgent ?? null,
      requestId: actor.requestId ?? null,
    };
  }
}
