import { OnlineMigration } from './online.ts';

/**
 * Who may sign up (decisions/0351). The previous release, while both run, treats `domains` and `approval` like `provisioned_only`: it
 * creates no user, and no request.
 */
export class Migration20261129160000SignUp extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "projects"
        add column if not exists "sign_up_domains" text[] not null default '{}',
        add column if not exists "blocked_sign_up_domains" text[] not null default '{}',
        add column if not exists "blocks_disposable_mail" boolean not null default false,
        drop constraint if exists "projects_sign_up_check",
        add constraint "projects_sign_up_check" check ("sign_up" in ('open', 'domains', 'approval', 'provisioned_only'))`,
    );
    await this.alter(
      `create table if not exists "sign_up_requests" (
        project_id uuid not null, id uuid not null, address text not null, address_key text not null, state text not null,
        client_id uuid not null, locale text not null, created_at timestamptz not null, expires_at timestamptz not null,
        constraint sign_up_requests_pkey primary key (project_id, id),
        constraint sign_up_requests_project_id_address_key_unique unique (project_id, address_key),
        constraint sign_up_requests_project_id_foreign foreign key (project_id) references projects(id) on delete cascade,
        constraint sign_up_requests_state_check check (state in ('pending', 'declined'))
      )`,
      'create index if not exists sign_up_requests_expires_at_index on sign_up_requests (expires_at)',
      'alter table sign_up_requests enable row level security',
      'drop policy if exists project on sign_up_requests',
      `create policy project on sign_up_requests using (project_id::text = current_setting('latchkey.project', true))`,
    );
  }
}
