import { OnlineMigration } from './online.ts';

/** Initial access tokens (decisions/0393). */
export class Migration20261130009200RegistrationTokens extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `create table if not exists "registration_tokens" (
        project_id uuid not null, id uuid not null, name text not null, hash text not null, hint text not null,
        created_at timestamptz not null, expires_at timestamptz not null, last_used_at timestamptz, revoked_at timestamptz,
        constraint registration_tokens_pkey primary key (project_id, id),
        constraint registration_tokens_project_id_hash_unique unique (project_id, hash),
        constraint registration_tokens_project_id_foreign foreign key (project_id) references projects(id) on delete cascade
      )`,
      'alter table registration_tokens enable row level security',
      'drop policy if exists project on registration_tokens',
      `create policy project on registration_tokens using (project_id::text = current_setting('latchkey.project', true))`,
    );
  }
}
