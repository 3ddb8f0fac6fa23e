import { OnlineMigration } from './online.ts';

/**
 * Deletion of accounts by their users (decisions/0354). Existing projects, and those that the previous release creates while both
 * run, do not offer it. A user whom that release deactivates or renames keeps the row: it is checked when it is due.
 */
export class Migration20261130003400AccountDeletions extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "projects"
        add column if not exists "account_deletion" boolean not null default false,
        add column if not exists "account_deletion_days" int not null default 14`,
    );
    await this.alter(
      `create table if not exists "account_deletions" (
        project_id uuid not null, user_id uuid not null, cancel_hash text, created_at timestamptz not null,
        due_at timestamptz not null,
        constraint account_deletions_pkey primary key (project_id, user_id),
        constraint account_deletions_project_id_user_id_foreign foreign key (project_id, user_id)
          references users(project_id, id) on delete cascade
      )`,
      'create index if not exists account_deletions_due_at_index on account_deletions (due_at)',
      'alter table account_deletions enable row level security',
      'drop policy if exists project on account_deletions',
      `create policy project on account_deletions using (project_id::text = current_setting('latchkey.project', true))`,
    );
  }
}
