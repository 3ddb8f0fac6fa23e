import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import { change } from '../kernel/change.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Database, flushUnlessTaken, withoutTimeLimit } from '../kernel/database.ts';
import type { Random } from '../kernel/random.ts';
import { checkedBy, type StoredOf, withDefaultsOf } from '../kernel/resource.ts';
import { isUuid } from '../kernel/secret.ts';
import { type Fragment, query, sql } from '../kernel/sql.ts';
import { Project } from '../projects/project.entity.ts';
import { existing, type TenantKey } from '../projects/tenant.ts';
import { countMembersOf } from './membership-lists.ts';
import type { MembershipLosses } from './membership-losses.ts';
import { Organization } from './organization.entity.ts';
import { type OrganizationSettings, organizationFields } from './organization.resource.ts';
import { ofOrganization } from './organization-events.ts';
import { defaultRolesOf, rolesWithKeys, setDefaultRoles } from './organization-roles.ts';
import { checkedMetadata } from './organization-values.ts';

/** Absent values stay unchanged, or are the defaults. */
export interface OrganizationChange extends Partial<OrganizationSettings> {
  /** A JSON object, at most 4 KB; replaces the former one. */
  metadata?: unknown;
  /** Keys of the roles that new members get if none is named. */
  defaultRoleKeys?: readonly string[] | undefined;
}

type NewOrganization = OrganizationChange & Pick<OrganizationSettings, 'slug' | 'name'>;

interface Deps {
  db: Database;
  clock: Clock;
  random: Random;
  audit: Audit;
  membershipLosses: Pick<MembershipLosses, 'queue'>;
}

/** Organizations of projects (decisions/0382). Each method is one transaction, unless it joins one. */
export class Organizations {
  constructor(private readonly deps: Deps) {}

  /** Refuses `not-found` for the project or a role, `invalid`, and `taken` for the slug. */
  create(projectId: string, input: NewOrganization, actor: Actor): Promise<Organization> {
    const { audit, clock, db, random } = this.deps;
    const { settings, metadata = {} } = this.check(input);
    return db.transaction(async (em) => {
      const project = await existing(em, Project, projectId, 'project');
      const roles = await rolesWithKeys(em, projectId, input.defaultRoleKeys ?? []);
      const now = clock.now();
      const organization = em.create(Organization, {
        ...{ project: project.id, id: random.id(), ...withDefaultsOf(organizationFields, settings), metadata },
        ...{ createdAt: now, updatedAt: now },
      });
      em.persist(organization);
      const after = { ...settings, ...(roles.length === 0 ? {} : { defaultRoleKeys: roles.map(({ key }) => key) }) };
      audit.record(em, ofOrganization('organization.created', organization, actor, { after }));
      await flushUnlessTaken(em, 'organization', 'slug');
      await setDefaultRoles(em, organization, roles);
      return organization;
    });
  }

  /** Refuses `not-found` for the organization or a role, `invalid`, and `taken` for the slug. */
  update(key: TenantKey, input: OrganizationChange, actor: Actor): Promise<Organization> {
    const { audit, clock, db, membershipLosses } = this.deps;
    const { settings, metadata } = this.check(input);
    return db.transaction(async (em) => {
      const organization = await lockedOrganization(em, key);
      const wasActive = organization.state === 'active';
      const changed = change<Organization>(organization, { ...settings, ...(metadata && { metadata }) });
      const roles = await this.changeDefaultRoles(em, key, input.defaultRoleKeys);
      if (!changed && !roles) return organization;
      organization.updatedAt = clock.now();
      const detail = {
        before: { ...changed?.before, ...roles?.before },
        after: { ...changed?.after, ...roles?.after },
      };
      audit.record(em, ofOrganization('organization.updated', organization, actor, detail));
      await flushUnlessTaken(em, 'organization', 'slug');
      if (wasActive && organization.state === 'suspended') {
        await membershipLosses.queue(em, { projectId: key.project.id, organizationId: key.id });
      }
      return organization;
    });
  }

  /** Joins, without a time limit: no member and no user at home is added until the transaction ends. Refuses `not-found`. */
  async locked(em: EntityManager, key: TenantKey): Promise<Organization> {
    await withoutTimeLimit(em);
    return lockedOrganization(em, key, sql`for update`);
  }

  /** Joins: deletes a {@link locked} organization, in which no user is at home, with its memberships, invitations, domains and rules. */
  async remove(em: EntityManager, organization: Organization, actor: Actor): Promise<void> {
    const { audit, membershipLosses } = this.deps;
    const { id, project, slug } = organization;
    const members = (await countMembersOf(em, organization)).count;
    audit.record(em, ofOrganization('organization.deleted', organization, actor, { slug, members }));
    em.remove(organization);
    await membershipLosses.queue(em, { projectId: project.id, organizationId: id });
  }

  private async changeDefaultRoles(em: EntityManager, key: TenantKey, keys: readonly string[] | undefined) {
    if (!keys) return null;
    const roles = await rolesWithKeys(em, key.project.id, keys);
    const before = (await defaultRolesOf(em, key)).map((role) => role.key);
    if (!(await setDefaultRoles(em, key, roles))) return null;
    return { before: { defaultRoleKeys: before }, after: { defaultRoleKeys: roles.map((role) => role.key).sort() } };
  }

  /** Refuses `invalid`. */
  check(input: OrganizationChange): {
    settings: Partial<StoredOf<typeof organizationFields>>;
    metadata: Record<string, unknown> | undefined;
  } {
    // No setting of an organization depends on targets.
    const settings = checkedBy(organizationFields, input, { now: this.deps.clock.now(), allowPrivateTargets: false });
    return { settings, metadata: input.metadata === undefined ? undefined : checkedMetadata(input.metadata) };
  }
}

/** The organization, locked against other changes of it; by default memberships refer to it and do not wait. Refuses `not-found`. */
async function lockedOrganization(
  em: EntityManager,
  key: TenantKey,
  lock: Fragment = sql`for no key update`,
): Promise<Organization> {
  if (isUuid(key.id)) {
    await query(
      em,
      sql`select 1 from organizations where project_id = ${key.project.id}::uuid and id = ${key.id}::uuid ${lock}`,
    );
  }
  return (await existing(em, Organization, key, 'organization')) as Organization;
}
