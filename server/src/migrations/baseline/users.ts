/** Users, groups and roles. */
export const users: readonly string[] = [
  `create table users (
    id uuid not null, project_id uuid not null, user_name text not null, user_name_key text not null, external_id text,
    display_name text, given_name text, family_name text, email text, email_key text, phone text,
    active boolean default true not null, provenance text default 'local' not null,
    attributes jsonb default '{}'::jsonb not null, version integer default 1 not null, created_at timestamptz not null,
    updated_at timestamptz not null, last_sign_in_at timestamptz, invited_at timestamptz, sign_in_hour timestamptz,
    constraint users_pkey primary key (project_id, id),
    constraint users_project_id_user_name_key_unique unique (project_id, user_name_key),
    constraint users_project_id_email_key_unique unique (project_id, email_key),
    constraint users_project_id_phone_unique unique (project_id, phone),
    constraint users_project_id_foreign foreign key (project_id) references projects(id) on delete cascade,
    constraint users_provenance_check check (provenance in ('local', 'scim'))
  )`,
  `create index users_project_id_external_id_index on users (project_id, external_id collate "C")`,
  `create index users_project_id_user_name_key_index on users (project_id, user_name_key collate "C", id)`,
  `create index users_project_id_display_name_index on users (project_id, lower(display_name) collate "C", id)`,
  `create index users_project_id_email_key_index on users (project_id, email_key collate "C", id)`,
  `create index users_project_id_family_name_index on users (project_id, lower(family_name) collate "C")`,
  `create index users_project_id_active_provenance_id_index on users (project_id, active, provenance, id)`,
  `create index users_project_id_sign_in_hour_id_index on users (project_id, sign_in_hour, id)`,
  `create index users_open_invitation_index on users (project_id, id) where (invited_at is not null) and (sign_in_hour is null)`,
  `create index users_id_index on users (id)`,
  `create trigger users_count_delete after delete on users referencing old table as changed for each statement execute function count_users()`,
  `create trigger users_count_insert after insert on users referencing new table as changed for each statement execute function count_users()`,
  `create trigger users_sign_in_hour before insert or update on users for each row when ((new.sign_in_hour is distinct from date_trunc('hour', new.last_sign_in_at, 'UTC'))) execute function note_sign_in_hour()`,
  `create table user_emails (
    user_id uuid not null, value_key text not null, project_id uuid not null,
    constraint user_emails_pkey primary key (project_id, user_id, value_key),
    constraint user_emails_project_id_user_id_foreign foreign key (project_id, user_id) references users(project_id, id) on delete cascade
  )`,
  `create index user_emails_project_id_value_key_index on user_emails (project_id, value_key collate "C", user_id)`,
  `create table custom_values (
    project_id uuid not null, user_id uuid not null, attribute text not null, key text not null,
    is_unique boolean not null,
    constraint custom_values_pkey primary key (project_id, user_id, attribute, key),
    constraint custom_values_project_id_user_id_foreign foreign key (project_id, user_id) references users(project_id, id) on delete cascade
  )`,
  `create unique index custom_values_project_id_attribute_key_unique on custom_values (project_id, attribute, key) where is_unique`,
  `create index custom_values_project_id_attribute_key_user_id_index on custom_values (project_id, attribute, key collate "C", user_id)`,
  `create table groups (
    id uuid not null, project_id uuid not null, display_name text not null, external_id text,
    version integer default 1 not null, created_at timestamptz not null, updated_at timestamptz not null,
    provenance text default 'scim' not null,
    constraint groups_pkey primary key (project_id, id),
    constraint groups_project_id_foreign foreign key (project_id) references projects(id) on delete cascade,
    constraint groups_provenance_check check (provenance in ('local', 'scim'))
  )`,
  `create index groups_project_id_display_name_index on groups (project_id, lower(display_name) collate "C", id)`,
  `create index groups_project_id_external_id_index on groups (project_id, external_id collate "C")`,
  `create index groups_id_index on groups (id)`,
  `create table group_members (
    group_id uuid not null, user_id uuid not null, created_at timestamptz not null, project_id uuid not null,
    constraint group_members_pkey primary key (project_id, group_id, user_id),
    constraint group_members_project_id_group_id_foreign foreign key (project_id, group_id) references groups(project_id, id) on delete cascade,
    constraint group_members_project_id_user_id_foreign foreign key (project_id, user_id) references users(project_id, id) on delete cascade
  )`,
  `create index group_members_user_id_index on group_members (user_id)`,
  `create table group_nestings (
    project_id uuid not null, group_id uuid not null, member_id uuid not null, created_at timestamptz not null,
    constraint group_nestings_pkey primary key (project_id, group_id, member_id),
    constraint group_nestings_project_id_group_id_foreign foreign key (project_id, group_id) references groups(project_id, id) on delete cascade,
    constraint group_nestings_project_id_member_id_foreign foreign key (project_id, member_id) references groups(project_id, id) on delete cascade
  )`,
  `create index group_nestings_project_id_member_id_index on group_nestings (project_id, member_id)`,
  `create table role_assignments (
    project_id uuid not null, id uuid not null, role_id uuid not null, user_id uuid, group_id uuid,
    created_at timestamptz not null,
    constraint role_assignments_pkey primary key (project_id, id),
    constraint role_assignments_project_id_role_id_user_id_unique unique (project_id, role_id, user_id),
    constraint role_assignments_project_id_role_id_group_id_unique unique (project_id, role_id, group_id),
    constraint role_assignments_project_id_group_id_foreign foreign key (project_id, group_id) references groups(project_id, id) on delete cascade,
    constraint role_assignments_project_id_role_id_foreign foreign key (project_id, role_id) references client_roles(project_id, id) on delete cascade,
    constraint role_assignments_project_id_user_id_foreign foreign key (project_id, user_id) references users(project_id, id) on delete cascade,
    constraint role_assignments_holder check (num_nonnulls(user_id, group_id) = 1)
  )`,
  `create index role_assignments_project_id_user_id_index on role_assignments (project_id, user_id)`,
  `create index role_assignments_project_id_group_id_index on role_assignments (project_id, group_id)`,
  `create table memberships (
    id uuid not null, user_id uuid not null, role text not null, project_id uuid, created_at timestamptz not null,
    user_project_id uuid not null,
    constraint memberships_pkey primary key (id),
    constraint memberships_user_project_id_user_id_project_id_unique unique (user_project_id, user_id, project_id),
    constraint memberships_project_id_foreign foreign key (project_id) references projects(id) on delete cascade,
    constraint memberships_user_project_id_user_id_foreign foreign key (user_project_id, user_id) references users(project_id, id) on delete cascade,
    constraint memberships_role_check check (role in ('owner', 'project_admin', 'project_viewer'))
  )`,
  `create index memberships_project_id_index on memberships (project_id)`,
  `create table consents (
    project_id uuid not null, id uuid not null, client_id uuid not null, user_id uuid not null, scopes text[] not null,
    created_at timestamptz not null, updated_at timestamptz not null,
    constraint consents_pkey primary key (project_id, id),
    constraint consents_project_id_user_id_client_id_unique unique (project_id, user_id, client_id),
    constraint consents_project_id_client_id_foreign foreign key (project_id, client_id) references clients(project_id, id) on delete cascade,
    constraint consents_project_id_user_id_foreign foreign key (project_id, user_id) references users(project_id, id) on delete cascade
  )`,
  `create index consents_project_id_client_id_index on consents (project_id, client_id)`,
  `create table suspensions (
    project_id uuid not null, user_id uuid not null, suspended_at timestamptz not null, user_name_key text not null,
    email_key text, phone text, external_id text,
    constraint suspensions_pkey primary key (project_id, user_id),
    constraint suspensions_project_id_user_id_foreign foreign key (project_id, user_id) references users(project_id, id) on delete cascade
  )`,
  `create index suspensions_project_id_user_name_key_index on suspensions (project_id, user_name_key)`,
  `create index suspensions_project_id_email_key_index on suspensions (project_id, email_key)`,
  `create index suspensions_project_id_phone_index on suspensions (project_id, phone)`,
  `create table email_changes (
    project_id uuid not null, id uuid not null, user_id uuid not null, bound_to uuid not null, email text not null,
    created_at timestamptz not null, expires_at timestamptz not null,
    constraint email_changes_pkey primary key (project_id, id),
    constraint email_changes_project_id_bound_to_unique unique (project_id, bound_to),
    constraint email_changes_project_id_user_id_foreign foreign key (project_id, user_id) references users(project_id, id) on delete cascade
  )`,
  `create index email_changes_project_id_user_id_index on email_changes (project_id, user_id)`,
  `create index email_changes_expires_at_index on email_changes (expires_at)`,
  `create table phone_changes (
    id uuid not null, user_id uuid not null, bound_to uuid not null, phone text not null,
    created_at timestamptz not null, expires_at timestamptz not null, project_id uuid not null,
    constraint phone_changes_pkey primary key (project_id, id),
    constraint phone_changes_project_id_bound_to_unique unique (project_id, bound_to),
    constraint phone_changes_project_id_user_id_foreign foreign key (project_id, user_id) references users(project_id, id) on delete cascade
  )`,
  `create index phone_changes_user_id_index on phone_changes (user_id)`,
  `create index phone_changes_expires_at_index on phone_changes (expires_at)`,
];

const searchText = `' ' || search_fold(user_name_key || ' ' || coalesce(email_key, '')) || ' ' || search_fold(coalesce(display_name, '')
  || ' ' || coalesce(given_name, '') || ' ' || coalesce(family_name, '') || ' ' || coalesce(external_id, ''))`;

/** @param extension the schema of `pg_trgm`, quoted */
export const searchIndexes = (extension: string): readonly string[] => [
  `create index users_search_fold_index on users using gin ((${searchText}) ${extension}.gin_trgm_ops)`,
  `create index users_search_grams_index on users using gin (search_grams(${searchText}))`,
];
