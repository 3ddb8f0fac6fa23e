import { OnlineMigration } from './online.ts';

const table = 'user_keys';

/** API keys of users (decisions/0423). The previous release does not know the table, and introspects none. */
export class Migration20261130050410UserKeys extends OnlineMigration {
  override async up(): Promise<void> {
    const name = (what: string) => `${table}_project_id_${what}`;
    await this.alter('alter table "apis" add column if not exists "user_keys" boolean not null default false');
    await this.alter(
      `create table if not exists "${table}" (
        project_id uuid not null, id uuid not null, user_id uuid not null, api_id uuid not null, organization_id uuid,
        name text not null, hash text not null, hint text not null, scopes text[] not null, networks text[] not null default '{}',
        created_at timestamptz not null, expires_at timestamptz not null, last_used_at timestamptz, last_used_address text,
        revoked_at timestamptz,
        constraint ${table}_pkey primary key (project_id, id),
        constraint ${name('hash_unique')} unique (project_id, hash),
        constraint ${name('user_id_foreign')} foreign key (project_id, user_id) references users(project_id, id) on delete cascade,
        constraint ${name('api_id_foreign')} foreign key (project_id, api_id) references apis(project_id, id) on delete cascade
      )`,
      `create index if not exists ${table}_id_index on ${table} (id)`,
      `create index if not exists ${name('user_id_index')} on ${table} (project_id, user_id)`,
      `create index if not exists ${name('api_id_index')} on ${table} (project_id, api_id)`,
      `create index if not exists ${table}_expires_at_index on ${table} (expires_at)`,
      `alter table ${table} enable row level security`,
      `drop policy if exists project on ${table}`,
      `create policy project on ${table} using (project_id::text = current_setting('latchkey.project', true))`,
    );
  }
}
