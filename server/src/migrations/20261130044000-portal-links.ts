import { OnlineMigration } from './online.ts';

const table = 'portal_links';

/** Links by which the IT contact of an organization sets it up (decisions/0418). The previous release does not know the table. */
export class Migration20261130044000PortalLinks extends OnlineMigration {
  override async up(): Promise<void> {
    const name = (what: string) => `${table}_project_id_${what}`;
    await this.alter(
      `create table if not exists "${table}" (
        project_id uuid not null, id uuid not null, organization_id uuid not null, email text not null, email_key text not null,
        can text[] not null constraint ${table}_can_check check (can <@ array['domains', 'connection', 'directory'] and can <> '{}'),
        return_url text, secret_hash text not null, session_hash text, created_at timestamptz not null,
        used_at timestamptz, expires_at timestamptz not null, completed_at timestamptz, revoked_at timestamptz,
        constraint ${table}_pkey primary key (project_id, id),
        constraint ${name('secret_hash_unique')} unique (project_id, secret_hash),
        constraint ${name('session_hash_unique')} unique (project_id, session_hash),
        constraint ${name('organization_id_foreign')} foreign key (project_id, organization_id)
          references organizations(project_id, id) on delete cascade
      )`,
      `create index if not exists ${table}_id_index on ${table} (id)`,
      `create index if not exists ${name('organization_id_id_index')} on ${table} (project_id, organization_id, id)`,
      `create index if not exists ${name('email_key_index')} on ${table} (project_id, email_key)`,
      `create index if not exists ${table}_expires_at_index on ${table} (expires_at)`,
      `alter table ${table} enable row level security`,
      `drop policy if exists project on ${table}`,
      `create policy project on ${table} using (project_id::text = current_setting('latchkey.project', true))`,
    );
  }
}
