import { OnlineMigration } from './online.ts';

/**
 * Suspended memberships that a directory may activate: those that it suspended (decisions/0402). The previous release, while both run,
 * leaves them to admins.
 */
export class Migration20261130045010SuspensionsByDirectories extends OnlineMigration {
  override async up(): Promise<void> {
    const table = 'organization_memberships';
    await this.alter(
      `alter table "${table}" add column if not exists "suspended_by_directory" boolean not null default false`,
    );
    await this.backfill(table, {
      set: 'suspended_by_directory = true',
      from: 'users r',
      where: `t.state = 'suspended' and r.project_id = t.project_id and r.organization_id = t.organization_id
        and r.account_id = t.user_id and not r.active`,
    });
  }
}
