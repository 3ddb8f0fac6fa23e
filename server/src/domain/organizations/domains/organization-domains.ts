import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../../audit/audit.ts';
import type { EventType } from '../../audit/event-types.ts';
import { type Actor, system } from '../../kernel/actor.ts';
import { type Clock, secondsLater } from '../../kernel/clock.ts';
import { type Database, flushUnlessTaken, pastDeadlocks } from '../../kernel/database.ts';
import { isLine } from '../../kernel/name.ts';
import { found, refuse } from '../../kernel/problem.ts';
import { newSecret, type Random } from '../../kernel/random.ts';
import { inProject } from '../../kernel/scope.ts';
import { isUuid } from '../../kernel/secret.ts';
import { query, sql } from '../../kernel/sql.ts';
import type { LimitRule, Limits } from '../../limits/limits.ts';
import { type ReadTxt, readProofs } from '../../projects/dns-proof.ts';
import { parentsOf } from '../../projects/mail-domains.ts';
import { existing, keyIn, locked, type TenantKey } from '../../projects/tenant.ts';
import { giveLoginsIn, withholdLoginsIn } from '../../users/identity/given-logins.ts';
import { Organization } from '../organization.entity.ts';
import { OrganizationDomain } from '../organization-domain.entity.ts';
import { inside } from '../organization-events.ts';
import { checkedOrganizationDomain } from './mail-domain.ts';

const maxDomains = 50;
const maxReason = 500;
/** Checks that admins may start for an organization. */
const checks: LimitRule = { name: 'organization-domain-checks', max: 30, windowSeconds: 600 };

const day = 24 * 3600;
/** Time for which a new domain is checked automatically. */
const pendingSeconds = 7 * day;
const pendingEverySeconds = 15 * 60;
const verifiedEverySeconds = 6 * 3600;
/** Time for which checks of a verified domain may fail: without its record, and without an answer. */
const graceSeconds = { missing: 3 * day, unavailable: 7 * day };

/** Domains that are read at once, and batches in one run of the job. */
const batch = 50;
const maxBatches = 10;

interface Deps {
  db: Database;
  clock: Clock;
  random: Random;
  audit: Audit;
  limits: Pick<Limits, 'spend'>;
  readTxt: ReadTxt;
}

/**
 * Mail domains of organizations (decisions/0396). A domain has no effect until a TXT record or an admin has proved it; a verified one
 * belongs to one organization of the project.
 */
export class OrganizationDomains {
  constructor(private readonly deps: Deps) {}

  /** Adds a domain, without effect. Refuses `not-found`, `invalid`, and `taken` if an organization has it. */
  add(key: TenantKey, typed: string, actor: Actor): Promise<OrganizationDomain> {
    const { clock, db, random } = this.deps;
    const domain = checkedOrganizationDomain(typed);
    return db.transaction(async (em) => {
      // Serialized, so that the limit holds.
      const organization = (await existing(em, Organization, key, 'organization', locked)) as Organization;
      if ((await em.count(OrganizationDomain, { organization })) >= maxDomains) {
        refuse({ code: 'invalid', field: 'organizationId', reason: `already has ${maxDomains} domains` });
      }
      if (await this.isHeldByOther(em, { project: key.project, organization: key, domain })) {
        refuse({ code: 'taken', what: 'organization-domain', field: 'domain' });
      }
      const added = em.create(OrganizationDomain, {
        project: key.project.id,
        id: random.id(),
        organization: [key.project.id, organization.id],
        domain,
        challenge: newSecret(random),
        createdAt: clock.now(),
      } as never) as OrganizationDomain;
      em.persist(added);
      this.record(em, 'organization-domain.added', organization, added, actor);
      await flushUnlessTaken(em, 'organization-domain', 'domain');
      return added;
    });
  }

  /** Checks the record now. Refuses `not-found`, `too-many`. */
  async check(key: TenantKey, actor: Actor): Promise<OrganizationDomain> {
    const { db, limits } = this.deps;
    const claim = await db.transaction(async (em) => {
      const { domain, organization } = await existing(em, OrganizationDomain, key, 'organization-domain');
      return { domain, spent: await limits.spend(em, checks, organization.id) };
    });
    if (!claim.spent.allowed) refuse({ code: 'too-many', retryAfterSeconds: claim.spent.retryAfterSeconds });
    return found(await this.read(key, claim.domain, actor), 'organization-domain');
  }

  /**
   * Verifies a domain without its record: it is not checked again. Refuses `not-found`, `invalid`, and `taken` if another organization
   * holds it or a domain above it. A domain that its record has proved stays so.
   */
  async verify(key: TenantKey, reason: string, actor: Actor): Promise<OrganizationDomain> {
    const text = reason.normalize('NFC').trim();
    if (text === '' || text.length > maxReason || !isLine(text)) {
      refuse({ code: 'invalid', field: 'reason', reason: `must be one line of 1 to ${maxReason} characters` });
    }
    return this.change(async (em) => {
      const domain = found(await this.lock(em, key), 'organization-domain');
      if (domain.state === 'verified') return domain;
      const isTaken = !(await this.take(em, domain, { provedBy: 'admin', reason: text }, actor));
      if (isTaken) refuse({ code: 'taken', what: 'organization-domain', field: 'id' });
      return domain;
    });
  }

  /** Its effects end; members stay, and users who have signed in keep their login emails. Refuses `not-found`. */
  remove(key: TenantKey, actor: Actor): Promise<void> {
    return this.change(async (em) => {
      const domain = found(await this.lock(em, key), 'organization-domain');
      const { state } = domain;
      this.record(em, 'organization-domain.removed', await organizationOf(em, domain), domain, actor, { state });
      em.remove(domain);
      if (state === 'verified') await this.lose(em, domain, actor);
    });
  }

  /**
   * Job: checks new domains every 15 minutes, and those that their record has proved every 6 hours; each by one process. A check in the
   * future was recorded by a clock that was ahead.
   */
  async checkDue(): Promise<void> {
    const { clock, db } = this.deps;
    const now = clock.now();
    const since = (secondsAgo: number) => secondsLater(now, -secondsAgo);
    const claim = sql<{ projectId: string; id: string; domain: string }>`
      update organization_domains set checked_at = ${now} where (project_id, id) in (
        select project_id, id from organization_domains
        where state = 'pending' and created_at > ${since(pendingSeconds)}
            and (coalesce(checked_at, created_at) <= ${since(pendingEverySeconds)} or checked_at > ${now})
          or state = 'verified' and proved_by = 'dns' and (checked_at <= ${since(verifiedEverySeconds)} or checked_at > ${now})
        order by checked_at nulls first limit ${batch} for update skip locked)
      returning project_id as "projectId", id, domain`;
    for (let count = 0; count < maxBatches; count += 1) {
      const due = await query(db.alone, claim);
      // A failure of one does not end the job while the others are checked.
      const checked = await Promise.allSettled(
        due.map(({ projectId, id, domain }) =>
          inProject(projectId, () => this.read(keyIn(projectId, id), domain, system)),
        ),
      );
      for (const one of checked) if (one.status === 'rejected') throw one.reason;
      if (due.length < batch) return;
    }
  }

  /** Reads the record, and applies the result; null if the domain was removed in the meantime. */
  private async read(key: TenantKey, name: string, actor: Actor): Promise<OrganizationDomain | null> {
    const { clock, readTxt } = this.deps;
    const records = await readProofs(readTxt, name);
    return this.change(async (em) => {
      const domain = await this.lock(em, key);
      if (!domain) return null;
      domain.checkedAt = clock.now();
      if (records === 'outage') Object.assign(domain, { fault: 'unavailable', failingSince: null });
      else if (records === 'unavailable') await this.fail(em, domain, records);
      else if (!records.includes(domain.challenge)) await this.fail(em, domain, 'missing');
      else if (!(await this.take(em, domain, { provedBy: 'dns', reason: null }, actor))) domain.fault = 'taken';
      return domain;
    });
  }

  /** Gives the domain to its organization. False, with nothing changed: another one holds it or a domain above it. */
  private async take(
    em: EntityManager,
    domain: OrganizationDomain,
    proof: Pick<OrganizationDomain, 'provedBy' | 'reason'>,
    actor: Actor,
  ): Promise<boolean> {
    const isNew = domain.state !== 'verified';
    if (isNew && (await this.isHeldByOther(em, domain))) return false;
    Object.assign(domain, { ...proof, state: 'verified', fault: null, failingSince: null });
    if (!isNew) return true;
    domain.verifiedAt = this.deps.clock.now();
    const detail = { provedBy: proof.provedBy, ...(proof.reason == null ? {} : { reason: proof.reason }) };
    this.record(em, 'organization-domain.verified', await organizationOf(em, domain), domain, actor, detail);
    await em.flush();
    await giveLoginsIn(em, inHome(domain), this.writing(actor));
    return true;
  }

  /** Records a check that found no proof. A domain that its record had proved is lost after a time. */
  private async fail(em: EntityManager, domain: OrganizationDomain, fault: 'missing' | 'unavailable'): Promise<void> {
    domain.fault = fault;
    if (domain.state !== 'verified' || domain.provedBy !== 'dns') return;
    const now = this.deps.clock.now();
    const { failingSince } = domain;
    const isFirst = failingSince == null;
    // A time in the future was recorded by a clock that was ahead.
    domain.failingSince = !isFirst && failingSince < now ? failingSince : now;
    const isLost = secondsLater(domain.failingSince, graceSeconds[fault]) <= now;
    if (!isFirst && !isLost) return;
    const organization = await organizationOf(em, domain);
    const type = isLost ? 'organization-domain.lost' : 'organization-domain.missing';
    this.record(em, type, organization, domain, system, { fault }, 'failure');
    if (!isLost) return;
    Object.assign(domain, { state: 'pending', provedBy: null, verifiedAt: null, failingSince: null });
    await this.lose(em, domain, system);
  }

  /** The addresses in it that no person has used are withheld. */
  private async lose(em: EntityManager, domain: OrganizationDomain, actor: Actor): Promise<void> {
    await em.flush();
    await withholdLoginsIn(em, inHome(domain), this.writing(actor));
  }

  private writing(actor: Actor) {
    return { audit: this.deps.audit, actor, now: this.deps.clock.now() };
  }

  /** One transaction; again after a deadlock with changes of users in the domain. */
  private change<T>(work: (em: EntityManager) => Promise<T>): Promise<T> {
    return pastDeadlocks(() => this.deps.db.transaction(work));
  }

  /** Whether another organization has verified the domain, or one above it. */
  private async isHeldByOther(
    em: EntityManager,
    { project, organization, domain }: { project: { id: string }; organization: { id: string }; domain: string },
  ): Promise<boolean> {
    const [row] = await query(
      em,
      sql<{
        held: boolean;
      }>`select exists (select 1 from organization_domains d where d.project_id = ${project.id}::uuid
        and d.domain = any(${[domain, ...parentsOf(domain)]}::text[]) and d.state = 'verified'
        and d.organization_id <> ${organization.id}::uuid) as held`,
    );
    return row?.held === true;
  }

  /** The domain, while no other of the project is verified: of two organizations that prove one at once, one gets it. */
  private async lock(em: EntityManager, key: TenantKey): Promise<OrganizationDomain | null> {
    if (!isUuid(key.id)) return null;
    await query(em, sql`select 1 from projects where id = ${key.project.id}::uuid for no key update`);
    return em.findOne(OrganizationDomain, { project: key.project.id, id: key.id }, locked);
  }

  private record(
    em: EntityManager,
    type: EventType,
    organization: Organization,
    { id, domain }: OrganizationDomain,
    actor: Actor,
    detail: object = {},
    result?: 'failure',
  ): void {
    const subject = { kind: 'organization-domain', id, name: domain };
    const event = inside(type, organization, { subject, actor, detail });
    this.deps.audit.record(em, { ...event, ...(result && { result }) });
  }
}

const inHome = ({ domain, organization, project }: OrganizationDomain) => ({
  domain,
  home: { projectId: project.id, organizationId: organization.id },
});

async function organizationOf(em: EntityManager, { project, organization }: OrganizationDomain): Promise<Organization> {
  return (await existing(em, Organization, keyIn(project.id, organization.id), 'organization')) as Organization;
}

/** Time from which the next failed check ends a verified domain; null: its checks do not fail. */
export function releaseAt({ failingSince, fault }: OrganizationDomain): Date | null {
  if (failingSince == null || (fault !== 'missing' && fault !== 'unavailable')) return null;
  return secondsLater(failingSince, graceSeconds[fault]);
}

/** The domains of organizations, by name. */
export function domainsOf(em: EntityManager, organizations: readonly TenantKey[]): Promise<OrganizationDomain[]> {
  const of = organizations.map(({ project, id }) => ({ project: project.id, organization: [project.id, id] as const }));
  return em.find(OrganizationDomain, { $or: of } as object, { orderBy: { domain: 'asc', id: 'asc' } });
}
