import type { EntityManager } from '@mikro-orm/postgresql';
import type { Actor } from '../../kernel/actor.ts';
import { query, sql } from '../../kernel/sql.ts';
import { existing, keyIn, type TenantKey } from '../../projects/tenant.ts';
import { domainOfAddress } from '../../users/login.ts';
import type { Memberships } from '../memberships.ts';
import { Organization } from '../organization.entity.ts';
import { defaultRolesOf } from '../organization-roles.ts';

/** Memberships of users whose login address is in a verified domain of an organization (decisions/0396). */
export class DomainJoins {
  constructor(private readonly deps: { memberships: Pick<Memberships, 'join'> }) {}

  /**
   * Joins: makes a user a member of the organization that has verified the domain of this address, or asks its admins, as
   * `joinByDomain` says. An existing membership stays unchanged, also a suspended one. Only a user at home in the project: the directory of
   * another organization could change the address afterwards, and give the account to another person.
   *
   * @param address the login address, which a code has proved in this sign-in
   */
  async join(em: EntityManager, { project, id }: TenantKey, address: string, actor: Actor): Promise<void> {
    const domain = domainOfAddress(address);
    if (domain === null) return;
    const [row] = await query(
      em,
      sql<{ id: string; join: 'ask' | 'on' }>`select o.id, o.join_by_domain as join from organization_domains d
          join organizations o on o.project_id = d.project_id and o.id = d.organization_id
        where d.project_id = ${project.id}::uuid and d.domain = ${domain}::text and d.state = 'verified'
          and o.state = 'active' and o.join_by_domain <> 'off'
          and exists (select 1 from users u
            where u.project_id = o.project_id and u.id = ${id}::uuid and u.organization_id is null)
          and not exists (select 1 from organization_memberships m
            where m.project_id = o.project_id and m.organization_id = o.id and m.user_id = ${id}::uuid)`,
      { prepare: 'organizations.to-join' },
    );
    if (!row) return;
    const key = keyIn(project.id, row.id);
    const organization = (await existing(em, Organization, key, 'organization')) as Organization;
    const roleIds = (await defaultRolesOf(em, key)).map((role) => role.id);
    const state = row.join === 'on' ? 'active' : 'requested';
    await this.deps.memberships.join(em, organization, { userId: id, source: 'domain', roleIds, state }, actor);
  }
}
