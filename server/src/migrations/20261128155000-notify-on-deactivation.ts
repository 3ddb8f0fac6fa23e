import { OnlineMigration } from './online.ts';

/** Logout tokens at a deactivation by the directory (decisions/0305): off in existing projects, and in those of the previous release. */
export class Migration20261128155000NotifyOnDeactivation extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "projects" add column if not exists "notify_on_deactivation" boolean null default false`,
    );
  }
}
