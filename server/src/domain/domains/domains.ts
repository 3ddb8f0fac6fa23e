import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import { type Actor, system } from '../kernel/actor.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import { type Database, flushUnlessTaken } from '../kernel/database.ts';
import { found, refuse } from '../kernel/problem.ts';
import type { Queue } from '../kernel/queue.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { inAllProjects, inProject } from '../kernel/scope.ts';
import { isUuid } from '../kernel/secret.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import { type ReadTxt, readProofs } from '../projects/dns-proof.ts';
import { Project } from '../projects/project.entity.ts';
import { domainOrigin } from '../projects/site.ts';
import { atKey, existing, keyIn, locked, type TenantKey } from '../projects/tenant.ts';
import { CustomDomain, type DomainFault } from './custom-domain.entity.ts';
import { checkedHost } from './host-name.ts';

/** A domain that fails its checks, or was lost by them. */
export interface DomainNotice {
  template: 'domain-failing' | 'domain-lost';
  domain: string;
  fault: 'missing' | 'unavailable';
  since: Date;
  /** Time of its loss, unless a check succeeds before. */
  until: Date;
}

/** Job that ends the sessions, grants and credentials of a host that its project lost. */
export const endDomainJob = 'domains.end';

const maxDomains = 5;
/** Checks that admins of a project may start. */
const checks: LimitRule = { name: 'domain-checks', max: 30, windowSeconds: 600 };
const day = 24 * 3600;
/** Time for which a new domain is checked automatically. */
const pendingSeconds = 7 * day;
/** Time for which the record of a verified domain may be missing. */
const graceSeconds = 3 * day;
/** Time for which name servers of a verified domain may stay without an answer. */
const unansweredSeconds = 7 * day;
/** Time for which checks fail before admins are warned. */
const warnSeconds = day;
const pendingEverySeconds = 15 * 60;
const verifiedEverySeconds = 6 * 3600;
/** Domains that one run of the job checks. */
const batch = 50;

/**
 * Custom domains of projects (decisions/0122). A claim has no effect; a TXT record with its random value gives the host to
 * the project, by one statement, unless another project holds it.
 */
export class Domains {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      random: Random;
      audit: Audit;
      limits: Pick<Limits, 'spend'>;
      queue: Queue;
      readTxt: ReadTxt;
      /** Joins: notifies the admins of a project. */
      notifyAdmins(em: EntityManager, projectId: string, notice: DomainNotice): Promise<void>;
      issuer: string;
    },
  ) {}

  /** The domains of a project, by host: at most 5. */
  list(em: EntityManager, projectId: string): Promise<CustomDomain[]> {
    return em.find(CustomDomain, { project: projectId }, { orderBy: { host: 'asc' } });
  }

  /** `iss` at a domain. */
  issuerOf({ host }: Pick<CustomDomain, 'host'>): string {
    return domainOrigin(this.deps.issuer, host);
  }

  /** Time from which the next failed check ends a verified domain; null: its checks do not fail. */
  releaseAt(domain: CustomDomain): Date | null {
    const failure = domain.state === 'verified' ? failureOf(domain) : null;
    return failure && failure.until;
  }

  /** A host in its stored form. Refuses `invalid`. */
  checkHost(typed: string): string {
    return checkedHost(typed, this.deps.issuer);
  }

  /** Claims a host. Refuses `not-found`, `invalid`, `taken` if the project has it. */
  create(projectId: string, typed: string, actor: Actor): Promise<CustomDomain> {
    const { audit, clock, db, random } = this.deps;
    const host = this.checkHost(typed);
    return db.transaction(async (em) => {
      const project = await existing(em, Project, projectId, 'project', locked);
      if (project.builtIn === 'console') {
        refuse({ code: 'invalid', field: 'projectId', reason: 'must not be the project of admins' });
      }
      if ((await em.count(CustomDomain, { project })) >= maxDomains) {
        refuse({ code: 'invalid', field: 'projectId', reason: `already has ${maxDomains} domains` });
      }
      const domain = em.create(CustomDomain, {
        project: project.id,
        id: random.id(),
        host,
        challenge: newSecret(random),
        state: 'pending',
        createdAt: clock.now(),
      });
      em.persist(domain);
      audit.record(em, { type: 'domain.added', actor, ...about(domain) });
      await flushUnlessTaken(em, 'domain', 'host');
      return domain;
    });
  }

  /** Checks the record now. Refuses `not-found`, `too-many`. */
  async check(key: TenantKey, actor: Actor): Promise<CustomDomain> {
    const { db, limits } = this.deps;
    const claim = await db.transaction(async (em) => {
      const one = await existing(em, CustomDomain, key, 'domain');
      const spent = await limits.spend(em, checks, key.project.id);
      return { host: one.host, spent };
    });
    if (!claim.spent.allowed) refuse({ code: 'too-many', retryAfterSeconds: claim.spent.retryAfterSeconds });
    return found(await this.verify(key, claim.host, actor), 'domain');
  }

  /** Removes the domain: its host is no longer served. Refuses `not-found`. */
  remove(key: TenantKey, actor: Actor): Promise<void> {
    return this.deps.db.transaction(async (em) => {
      const domain = found(await this.locked(em, key), 'domain');
      this.deps.audit.record(em, { type: 'domain.removed', actor, ...about(domain), detail: { state: domain.state } });
      await this.release(em, domain, { withPasskeys: true });
      em.remove(domain);
    });
  }

  /**
   * Job: checks new domains every 15 minutes, and verified ones every 6 hours; each by one process. A check in the future was
   * recorded by a clock that was ahead.
   */
  async checkDue(): Promise<void> {
    const { clock, db } = this.deps;
    const now = clock.now();
    const since = (secondsAgo: number) => secondsLater(now, -secondsAgo);
    const due = await query(
      db.alone,
      sql<{ projectId: string; id: string; host: string }>`
        update custom_domains set checked_at = ${now} where (project_id, id) in (
          select project_id, id from custom_domains
          where state = 'pending' and coalesce(checked_at, created_at) <= ${since(pendingEverySeconds)}
            or state = 'verified' and checked_at <= ${since(verifiedEverySeconds)}
            or state in ('pending', 'verified') and checked_at > ${now}
          order by checked_at nulls first limit ${batch} for update skip locked)
        returning project_id as "projectId", id, host`,
    );
    // A failure of one does not end the job while the others are checked.
    const checked = await Promise.allSettled(
      due.map(({ projectId, id, host }) => inProject(projectId, () => this.verify(keyIn(projectId, id), host, system))),
    );
    for (const one of checked) if (one.status === 'rejected') throw one.reason;
  }

  /** Reads the record, and applies the result; null if the domain was removed in the meantime. */
  private async verify(key: TenantKey, host: string, actor: Actor): Promise<CustomDomain | null> {
    const { clock, db, readTxt } = this.deps;
    const records = await readProofs(readTxt, host);
    // Admins are users of another project.
    return inAllProjects(() =>
      db.transaction(async (em) => {
        const domain = await this.locked(em, key);
        if (!domain) return null;
        domain.checkedAt = clock.now();
        if (typeof records === 'string') await this.wait(em, domain, records === 'outage');
        else if (records.includes(domain.challenge)) await this.take(em, domain, actor);
        else await this.miss(em, domain);
        return domain;
      }),
    );
  }

  /** Gives the host to the project whose record was found, unless another project holds it. */
  private async take(em: EntityManager, domain: CustomDomain, actor: Actor): Promise<void> {
    const now = this.deps.clock.now();
    const taken = await execute(
      em,
      sql`insert into verified_hosts as held (host, project_id, verified_at)
        values (${domain.host}, ${domain.project.id}, ${now})
        on conflict (host) do update set project_id = excluded.project_id, released_at = null,
          verified_at = case when held.released_at is null then held.verified_at else excluded.verified_at end
        where held.project_id is null or held.released_at is not null or held.project_id = excluded.project_id`,
    );
    if (taken !== 1) {
      this.fail(em, domain, 'taken');
      return;
    }
    const isNew = domain.state !== 'verified';
    Object.assign(domain, {
      state: 'verified',
      fault: null,
      missingSince: null,
      unansweredSince: null,
      warnedAt: null,
    });
    if (!isNew) return;
    domain.verifiedAt = now;
    this.deps.audit.record(em, { type: 'domain.verified', actor, ...about(domain) });
  }

  private async miss(em: EntityManager, domain: CustomDomain): Promise<void> {
    if (domain.state !== 'verified') return this.fail(em, domain, 'missing');
    const now = this.deps.clock.now();
    Object.assign(domain, { fault: 'missing', unansweredSince: null });
    const isFirst = domain.missingSince == null;
    domain.missingSince = earlier(domain.missingSince, now);
    if (isFirst) {
      this.deps.audit.record(em, { type: 'domain.missing', result: 'failure', actor: system, ...about(domain) });
    }
    await this.warnOrLose(em, domain);
  }

  /**
   * Records that the name servers did not answer; a verified domain is lost after a week without an answer. During an outage of
   * our own resolver, the week starts again: it proves nothing about the domain.
   */
  private async wait(em: EntityManager, domain: CustomDomain, isOutage: boolean): Promise<void> {
    const now = this.deps.clock.now();
    domain.fault = 'unavailable';
    if (domain.state !== 'verified') return;
    if (isOutage) {
      domain.unansweredSince = null;
      return;
    }
    const isFirst = domain.unansweredSince == null;
    domain.unansweredSince = earlier(domain.unansweredSince, now);
    if (isFirst) {
      const detail = { fault: domain.fault };
      const event = { type: 'domain.missing', result: 'failure', actor: system, ...about(domain), detail } as const;
      this.deps.audit.record(em, event);
    }
    await this.warnOrLose(em, domain);
  }

  /** Ends a domain whose checks failed for too long, and warns its admins once before. */
  private async warnOrLose(em: EntityManager, domain: CustomDomain): Promise<void> {
    const now = this.deps.clock.now();
    const failure = failureOf(domain);
    if (!failure) return;
    const isLost = failure.until <= now;
    if (isLost) await this.lose(em, domain);
    else if (domain.warnedAt != null || secondsLater(failure.since, warnSeconds) > now) return;
    else domain.warnedAt = now;
    const template = isLost ? 'domain-lost' : 'domain-failing';
    await this.deps.notifyAdmins(em, domain.project.id, { template, domain: domain.host, ...failure });
  }

  private async lose(em: EntityManager, domain: CustomDomain): Promise<void> {
    domain.state = 'failed';
    const detail = { fault: domain.fault };
    this.deps.audit.record(em, { type: 'domain.lost', result: 'failure', actor: system, ...about(domain), detail });
    await this.release(em, domain, { withPasskeys: false });
  }

  /** Records a check that did not verify the domain; a new domain fails after a week. */
  private fail(em: EntityManager, domain: CustomDomain, fault: DomainFault): void {
    domain.fault = fault;
    if (domain.state !== 'pending') return;
    if (secondsLater(domain.createdAt, pendingSeconds) > this.deps.clock.now()) return;
    domain.state = 'failed';
    this.deps.audit.record(em, { type: 'domain.failed', result: 'failure', actor: system, ...about(domain) });
  }

  /** Releases the host. It stays known, so that it never serves the pages of the base host. */
  private async release(em: EntityManager, { project, host }: CustomDomain, ends: { withPasskeys: boolean }) {
    const now = this.deps.clock.now();
    const released = await execute(
      em,
      sql`update verified_hosts set released_at = ${now}
        where host = ${host} and project_id = ${project.id} and released_at is null`,
    );
    if (released === 0 && !ends.withPasskeys) return;
    await this.deps.queue.send(em, endDomainJob, {
      projectId: project.id,
      host,
      before: now.toISOString(),
      ...ends,
    });
  }

  private locked(em: EntityManager, key: TenantKey): Promise<CustomDomain | null> {
    const lock = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
    return isUuid(key.id) ? em.findOne(CustomDomain, atKey(key), lock) : Promise.resolve(null);
  }
}

/** The last check's fault, since when, and when it ends a verified domain. */
function failureOf({
  fault,
  missingSince,
  unansweredSince,
}: CustomDomain): Pick<DomainNotice, 'fault' | 'since' | 'until'> | null {
  if (fault === 'missing' && missingSince != null) {
    return { fault, since: missingSince, until: secondsLater(missingSince, graceSeconds) };
  }
  if (fault === 'unavailable' && unansweredSince != null) {
    return { fault, since: unansweredSince, until: secondsLater(unansweredSince, unansweredSeconds) };
  }
  return null;
}

/** A time in the future was recorded by a clock that was ahead. */
function earlier(since: Date | null | undefined, now: Date): Date {
  return since != null && since < now ? since : now;
}

function about({ project, id, host }: CustomDomain) {
  return { projectId: project.id, subject: { kind: 'domain', id, name: host } };
}
