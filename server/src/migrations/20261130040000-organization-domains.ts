import { OnlineMigration } from './online.ts';

/**
 * Domains of organizations, and memberships that wait for an admin (decisions/0396). The previous release does not write `requested`; while
 * both run, it treats such a membership as suspended.
 */
export class Migration20261130040000OrganizationDomains extends OnlineMigration {
  override async up(): Promise<void> {
    // The admin API finds a domain by its id alone.
    await this.index('organization_domains', 'organization_domains_id_index', '"id"');
    const [table, check] = ['organization_memberships', 'organization_memberships_state_check'];
    await this.alter(
      `alter table "${table}" drop constraint if exists ${check}`,
      `alter table "${table}" add constraint ${check} check (state in ('active', 'suspended', 'requested')) not valid`,
    );
    await this.execute(`alter table "${table}" validate constraint ${check}`);
  }
}
