import { OnlineMigration } from './online.ts';

/**
 * Custom domains of projects. The previous release answers at their hosts as at the base address; its sessions and
 * credentials are those of the base host.
 */
export class Migration20261123010000CustomDomains extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `create table if not exists "custom_domains" ("project_id" uuid not null, "id" uuid not null, "host" text not null,
        "challenge" text not null, "state" text not null default 'pending',
        "created_at" timestamptz not null, "checked_at" timestamptz null, "fault" text null,
        "verified_at" timestamptz null, "missing_since" timestamptz null, primary key ("project_id", "id"),
        constraint "custom_domains_project_id_host_unique" unique ("project_id", "host"),
        constraint "custom_domains_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade)`,
      `alter table "custom_domains" enable row level security`,
      `drop policy if exists "project" on "custom_domains"`,
      `create policy "project" on "custom_domains" using (project_id::text in (current_setting('latchkey.project', true)))`,
      `create table if not exists "verified_hosts" ("host" text not null, "project_id" uuid null,
        "verified_at" timestamptz not null, "released_at" timestamptz null, primary key ("host"),
        constraint "verified_hosts_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete set null)`,
      `create index if not exists "verified_hosts_project_id_index" on "verified_hosts" ("project_id")`,
    );
    await this.alter(`alter table "sessions" add column if not exists "domain" text null`);
    await this.alter(`alter table "credentials" add column if not exists "domain" text null`);
    await this.index('sessions', 'sessions_project_id_domain_index', 'project_id, domain) where (domain is not null');
    await this.index(
      'credentials',
      'credentials_project_id_domain_index',
      'project_id, domain) where (domain is not null',
    );
  }
}
