import { OnlineMigration } from './online.ts';

/** Clients that introduce themselves (decisions/0392). The previous release accepts none: it finds clients by UUID only. */
export class Migration20261130009000IntroducedClients extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "projects"
        add column if not exists "client_metadata_documents" text not null default 'off',
        add column if not exists "client_metadata_domains" text[] not null default '{}',
        add column if not exists "blocked_client_domains" text[] not null default '{}',
        add column if not exists "client_registration" text not null default 'off',
        drop constraint if exists "projects_client_metadata_documents_check",
        add constraint "projects_client_metadata_documents_check" check ("client_metadata_documents" in ('off', 'domains', 'anyone')),
        drop constraint if exists "projects_client_registration_check",
        add constraint "projects_client_registration_check" check ("client_registration" in ('off', 'token', 'open'))`,
    );
    await this.alter(
      `alter table "clients" add column if not exists "introduced_by" text, add column if not exists "metadata_url" text`,
      `create table if not exists "client_introductions" (
        project_id uuid not null, client_id uuid not null, claimed_name text, fresh_until timestamptz, last_used_at timestamptz not null,
        management_hash text, created_at timestamptz not null,
        constraint client_introductions_pkey primary key (project_id, client_id),
        constraint client_introductions_project_id_client_id_foreign foreign key (project_id, client_id)
          references clients(project_id, id) on delete cascade
      )`,
      'create index if not exists client_introductions_last_used_at_index on client_introductions (last_used_at)',
      'alter table client_introductions enable row level security',
      'drop policy if exists project on client_introductions',
      `create policy project on client_introductions using (project_id::text = current_setting('latchkey.project', true))`,
    );
    const columns = '"project_id", "metadata_url"';
    await this.index(
      'clients',
      'clients_project_id_metadata_url_unique',
      columns,
      true,
      'btree',
      '"metadata_url" is not null',
    );
  }
}
