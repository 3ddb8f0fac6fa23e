import { OnlineMigration } from './online.ts';

const values = ['owner', 'project_admin', 'project_viewer', 'organization_admin'].map((role) => `'${role}'`).join(', ');

/**
 * Admins of organizations (decisions/0412). The previous release, while both run, gives them no rights, and cannot list the admins
 * of a project that has some.
 */
export class Migration20261130046000OrganizationAdmins extends OnlineMigration {
  override async up(): Promise<void> {
    for (const table of ['memberships', 'admin_tokens']) {
      const check = `${table}_role_check`;
      await this.alter(
        `alter table "${table}" add column if not exists "organization_ids" uuid[]`,
        `alter table "${table}" drop constraint if exists ${check}`,
        `alter table "${table}" add constraint ${check} check (role in (${values})) not valid`,
      );
      await this.execute(`alter table "${table}" validate constraint ${check}`);
    }
  }
}
