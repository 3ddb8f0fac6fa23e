import { OnlineMigration } from './online.ts';

const id = 'project_id uuid not null, id uuid not null';
const secured = (table: string) => [
  `alter table ${table} enable row level security`,
  `drop policy if exists project on ${table}`,
  `create policy project on ${table} using (project_id::text = current_setting('latchkey.project', true))`,
];
const parent = (table: string, column: string, of: string) =>
  `constraint ${table}_project_id_${column}_foreign foreign key (project_id, ${column}) references ${of}(project_id, id) on delete cascade`;

/**
 * Organizations of projects (decisions/0382), off in every project. The previous release, while both run, checks no membership:
 * switch organizations on after the last process has been updated.
 */
export class Migration20261130000000Organizations extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      'alter table "projects" add column if not exists "organizations_enabled" boolean not null default false',
      'alter table "clients" add column if not exists "organization_required" boolean not null default false',
      ...['authorization_requests', 'authorization_codes', 'refresh_grants', 'device_authorizations'].map(
        (table) => `alter table "${table}" add column if not exists "organization_id" uuid`,
      ),
    );
    await this.tables();
    await this.rules();
    await this.events();
    // Only rows in the context of an organization: those of projects without one cost nothing.
    const set = 'organization_id is not null';
    for (const table of ['authorization_codes', 'refresh_grants']) {
      const name = `${table}_organization_id_index`;
      await this.index(table, name, '"project_id", "organization_id"', false, 'btree', set);
    }
  }

  private async tables(): Promise<void> {
    await this.alter(
      `create table if not exists "organizations" (
        ${id}, slug text not null, name text not null,
        state text not null default 'active' constraint organizations_state_check check (state in ('active', 'suspended')),
        sign_in text not null default 'any' constraint organizations_sign_in_check check (sign_in in ('any', 'connection')),
        fallback boolean not null default false,
        mfa_policy text constraint organizations_mfa_policy_check check (mfa_policy in ('required')),
        idle_timeout_seconds int, max_session_seconds int,
        join_by_domain text not null default 'off' constraint organizations_join_by_domain_check check (join_by_domain in ('off', 'ask', 'on')),
        metadata jsonb not null default '{}', created_at timestamptz not null, updated_at timestamptz not null,
        constraint organizations_pkey primary key (project_id, id),
        constraint organizations_project_id_slug_unique unique (project_id, slug),
        constraint organizations_project_id_foreign foreign key (project_id) references projects(id) on delete cascade
      )`,
      'create index if not exists organizations_id_index on organizations (id)',
      ...secured('organizations'),
      `create table if not exists "organization_roles" (
        ${id}, key text not null, name text not null, created_at timestamptz not null,
        constraint organization_roles_pkey primary key (project_id, id),
        constraint organization_roles_project_id_key_unique unique (project_id, key),
        constraint organization_roles_project_id_foreign foreign key (project_id) references projects(id) on delete cascade
      )`,
      ...secured('organization_roles'),
      `create table if not exists "organization_default_roles" (
        project_id uuid not null, organization_id uuid not null, role_id uuid not null,
        constraint organization_default_roles_pkey primary key (project_id, organization_id, role_id),
        ${parent('organization_default_roles', 'organization_id', 'organizations')},
        ${parent('organization_default_roles', 'role_id', 'organization_roles')}
      )`,
      'create index if not exists organization_default_roles_project_id_role_id_index on organization_default_roles (project_id, role_id)',
      ...secured('organization_default_roles'),
    );
    await this.alter(...memberships());
    await this.alter(...invitationsAndDomains());
  }

  /** Events of an organization, by an index that those of others are not in. Each partition by itself: no write waits. */
  private async events(): Promise<void> {
    const key = `"project_id", ("detail" ->> 'organizationId'), "id"`;
    const where = `"detail" ->> 'organizationId' is not null`;
    const name = 'audit_log_organization_id_index';
    await this.alter(`create index if not exists ${name} on only audit_log (${key}) where (${where})`);
    const partitions = await this.execute(
      `select c.relname as table from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'audit_log'::regclass`,
    );
    for (const partition of partitions) {
      const table = String(partition['table']);
      await this.index(table, `${table}_organization_id_index`, key, false, 'btree', where);
      await this.alter(`alter index ${name} attach partition "${table}_organization_id_index"`);
    }
  }

  private async rules(): Promise<void> {
    const table = 'access_rules';
    await this.alter(`alter table "${table}" add column if not exists "organization_id" uuid`);
    await this.foreignKey(table, ['project_id', 'organization_id'], 'organizations', ['project_id', 'id']);
    const [unique, byOrganization] = [
      `${table}_project_id_client_id_organization_id_unique`,
      `${table}_project_id_organization_id_index`,
    ];
    await this.index(table, `${unique}_index`, '"project_id", "client_id", "organization_id"', true);
    await this.useIndex(table, unique, 'unique', `${unique}_index`);
    await this.index(table, byOrganization, '"project_id", "organization_id"');
    await this.alter(
      `alter table "${table}" drop constraint if exists access_rules_holder`,
      `alter table "${table}" add constraint access_rules_holder
        check (num_nonnulls(user_id, group_id, role_id, organization_id) = 1) not valid`,
    );
    await this.execute(`alter table "${table}" validate constraint access_rules_holder`);
  }
}

function memberships(): string[] {
  const [table, roles] = ['organization_memberships', 'organization_membership_roles'];
  return [
    `create table if not exists "${table}" (
      ${id}, organization_id uuid not null, user_id uuid not null,
      state text not null default 'active' constraint ${table}_state_check check (state in ('active', 'suspended')),
      source text not null constraint ${table}_source_check check (source in ('admin', 'invitation', 'domain', 'connection', 'directory')),
      created_at timestamptz not null, last_used_at timestamptz,
      constraint ${table}_pkey primary key (project_id, id),
      constraint ${table}_member_unique unique (project_id, organization_id, user_id),
      ${parent(table, 'organization_id', 'organizations')},
      ${parent(table, 'user_id', 'users')}
    )`,
    `create index if not exists ${table}_id_index on ${table} (id)`,
    `create index if not exists ${table}_project_id_user_id_index on ${table} (project_id, user_id)`,
    `create index if not exists ${table}_project_id_organization_id_id_index on ${table} (project_id, organization_id, id)`,
    ...secured(table),
    `create table if not exists "${roles}" (
      project_id uuid not null, membership_id uuid not null, role_id uuid not null,
      constraint ${roles}_pkey primary key (project_id, membership_id, role_id),
      ${parent(roles, 'membership_id', table)},
      ${parent(roles, 'role_id', 'organization_roles')}
    )`,
    `create index if not exists ${roles}_project_id_role_id_index on ${roles} (project_id, role_id)`,
    ...secured(roles),
  ];
}

function invitationsAndDomains(): string[] {
  const [invitations, domains] = ['organization_invitations', 'organization_domains'];
  return [
    `create table if not exists "${invitations}" (
      ${id}, organization_id uuid not null, email text not null, email_key text not null, secret_hash text not null,
      role_ids uuid[] not null default '{}', created_at timestamptz not null, sent_at timestamptz not null,
      expires_at timestamptz not null, accepted_at timestamptz, revoked_at timestamptz,
      constraint ${invitations}_pkey primary key (project_id, id),
      constraint ${invitations}_project_id_secret_hash_unique unique (project_id, secret_hash),
      ${parent(invitations, 'organization_id', 'organizations')}
    )`,
    `create index if not exists ${invitations}_id_index on ${invitations} (id)`,
    `create index if not exists ${invitations}_project_id_organization_id_id_index on ${invitations} (project_id, organization_id, id)`,
    `create index if not exists ${invitations}_project_id_email_key_index on ${invitations} (project_id, email_key)`,
    `create index if not exists ${invitations}_expires_at_index on ${invitations} (expires_at)`,
    `create unique index if not exists ${invitations}_open_unique on ${invitations} (project_id, organization_id, email_key)
      where (accepted_at is null and revoked_at is null)`,
    ...secured(invitations),
    `create table if not exists "${domains}" (
      ${id}, organization_id uuid not null, domain text not null, challenge text not null,
      state text not null default 'pending' constraint ${domains}_state_check check (state in ('pending', 'verified')),
      proved_by text constraint ${domains}_proved_by_check check (proved_by in ('dns', 'admin')), reason text,
      created_at timestamptz not null, verified_at timestamptz, checked_at timestamptz,
      fault text constraint ${domains}_fault_check check (fault in ('missing', 'unavailable', 'taken')),
      failing_since timestamptz,
      constraint ${domains}_pkey primary key (project_id, id),
      constraint ${domains}_project_id_organization_id_domain_unique unique (project_id, organization_id, domain),
      ${parent(domains, 'organization_id', 'organizations')}
    )`,
    `create unique index if not exists ${domains}_verified_unique on ${domains} (project_id, domain) where (state = 'verified')`,
    ...secured(domains),
  ];
}
