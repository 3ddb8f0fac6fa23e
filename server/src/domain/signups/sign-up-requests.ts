import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit, AuditEntry } from '../audit/audit.ts';
import type { Locale } from '../delivery/locale.ts';
import { maskAddress } from '../delivery/mask.ts';
import type { Actor } from '../kernel/actor.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { type Page, type PageRequest, pageOf, type Total, totalOf } from '../kernel/page.ts';
import type { Random } from '../kernel/random.ts';
import { type Executing, execute, type Fragment, query, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { addressKey, trimmed } from '../users/login.ts';
import { SignUpRequest } from './sign-up-request.entity.ts';

const day = 24 * 3600;

/** Requests to sign up, in projects whose admins approve each new user (decisions/0351). */
export class SignUpRequests {
  constructor(private readonly deps: { db: Database; clock: Clock; random: Random; audit: Audit }) {}

  /**
   * Joins: asks the admins to approve an address that a code has verified. Does nothing for an address that already
   * waits or was declined.
   *
   * @param asked.days lifetime of the request, waiting or declined
   */
  async ask(
    em: EntityManager,
    asked: { projectId: string; days: number; clientId: string; address: string; locale: Locale; actor: Actor },
  ): Promise<void> {
    const { audit, clock, random } = this.deps;
    const { projectId, days, clientId, address, locale, actor } = asked;
    const now = clock.now();
    const id = random.id();
    const [added] = await query(
      em,
      sql<{
        id: string;
      }>`insert into sign_up_requests (project_id, id, address, address_key, state, client_id, locale, created_at, expires_at)
        values (${projectId}::uuid, ${id}::uuid, ${trimmed(address)}, ${addressKey(address)}, 'pending', ${clientId}::uuid, ${locale},
          ${now}::timestamptz, ${secondsLater(now, days * day)}::timestamptz)
        on conflict (project_id, address_key) do update set id = excluded.id, address = excluded.address, state = excluded.state,
          client_id = excluded.client_id, locale = excluded.locale, created_at = excluded.created_at, expires_at = excluded.expires_at,
          announced_at = null
          where sign_up_requests.expires_at <= ${now}::timestamptz
        returning id`,
      { prepare: 'signups.ask' },
    );
    if (added)
      audit.record(em, { ...eventOf('user.approval_requested', projectId, added.id, address, actor), clientId });
  }

  /** The projects whose admins wait for a mail about requests. */
  async unannounced(): Promise<string[]> {
    const rows = await query(
      this.deps.db.alone,
      sql<{ id: string }>`select p.id from projects p
        where p.sign_up_mails and exists (select 1 from sign_up_requests r where r.project_id = p.id and ${this.isUnannounced()})`,
    );
    return rows.map(({ id }) => id);
  }

  /** Joins: locks the requests that no mail was sent about. @returns whether there are any */
  async lockUnannounced(em: EntityManager, projectId: string): Promise<boolean> {
    const locked = await query(
      em,
      sql`select 1 from sign_up_requests r where r.project_id = ${projectId}::uuid and ${this.isUnannounced()} order by r.id for update`,
    );
    return locked.length > 0;
  }

  /** Joins: marks requests as announced. @returns the number of all that wait */
  async announce(em: EntityManager, projectId: string): Promise<number> {
    const now = this.deps.clock.now();
    await execute(
      em,
      sql`update sign_up_requests r set announced_at = ${now}::timestamptz
        where r.project_id = ${projectId}::uuid and ${this.isUnannounced()}`,
    );
    const [waiting] = await query(
      em,
      sql<{ count: number }>`select count(*)::int as count from sign_up_requests
        where project_id = ${projectId}::uuid and state = 'pending' and expires_at > ${now}::timestamptz`,
    );
    return waiting?.count ?? 0;
  }

  /** SQL: whether the request `r` waits, and admins got no mail about it. */
  private isUnannounced(): Fragment {
    return sql`r.state = 'pending' and r.announced_at is null and r.expires_at > ${this.deps.clock.now()}::timestamptz`;
  }

  /** Joins: deletes a request that is decided. */
  async remove(em: EntityManager, { project, id }: TenantKey): Promise<void> {
    await execute(em, sql`delete from sign_up_requests where project_id = ${project.id}::uuid and id = ${id}::uuid`);
  }
}

type ApprovalEvent = 'user.approval_requested' | 'user.approval_given' | 'user.approval_refused';

/** Events name the request; the address is masked, because no user has it yet. */
export function eventOf(type: ApprovalEvent, projectId: string, id: string, address: string, actor: Actor): AuditEntry {
  return { type, actor, projectId, subject: { kind: 'sign-up-request', id, name: maskAddress(address) } };
}

/** The requests of a project in a state, newest first, without expired ones. */
export function requestsOf(
  em: EntityManager,
  { projectId, state, now }: { projectId: string; state: SignUpRequest['state']; now: Date },
  page: PageRequest,
): Promise<Page<SignUpRequest>> {
  return pageOf(em, SignUpRequest, { project: projectId, state, expiresAt: { $gt: now } }, page);
}

export function countRequests(
  on: Executing,
  { projectId, state, now }: { projectId: string; state: SignUpRequest['state']; now: Date },
): Promise<Total> {
  return totalOf(
    on,
    sql`from sign_up_requests where project_id = ${projectId}::uuid and state = ${state}::text and expires_at > ${now}::timestamptz`,
  );
}
