import { OnlineMigration } from './online.ts';

/** Roles of applications with their assignments, and the claim settings of applications. */
export class Migration20261123000400Roles extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `create table if not exists "client_roles" ("project_id" uuid not null, "id" uuid not null,
        "client_id" uuid not null, "key" text not null, "name" text not null, "description" text null,
        "created_at" timestamptz not null, "updated_at" timestamptz not null, primary key ("project_id", "id"),
        constraint "client_roles_project_id_client_id_key_unique" unique ("project_id", "client_id", "key"),
        constraint "client_roles_project_id_client_id_foreign" foreign key ("project_id", "client_id")
          references "clients" ("project_id", "id") on delete cascade)`,
      `create table if not exists "role_assignments" ("project_id" uuid not null, "id" uuid not null,
        "role_id" uuid not null, "user_id" uuid null, "group_id" uuid null, "created_at" timestamptz not null,
        primary key ("project_id", "id"),
        constraint "role_assignments_project_id_role_id_user_id_unique" unique ("project_id", "role_id", "user_id"),
        constraint "role_assignments_project_id_role_id_group_id_unique" unique ("project_id", "role_id", "group_id"),
        constraint "role_assignments_holder" check (num_nonnulls(user_id, group_id) = 1),
        constraint "role_assignments_project_id_role_id_foreign" foreign key ("project_id", "role_id")
          references "client_roles" ("project_id", "id") on delete cascade,
        constraint "role_assignments_project_id_user_id_foreign" foreign key ("project_id", "user_id")
          references "users" ("project_id", "id") on delete cascade,
        constraint "role_assignments_project_id_group_id_foreign" foreign key ("project_id", "group_id")
          references "groups" ("project_id", "id") on delete cascade)`,
      `create index if not exists "role_assignments_project_id_user_id_index"
        on "role_assignments" ("project_id", "user_id")`,
      `create index if not exists "role_assignments_project_id_group_id_index"
        on "role_assignments" ("project_id", "group_id")`,
      `create table if not exists "claim_settings" ("project_id" uuid not null, "client_id" uuid not null,
        "groups" text not null, "group_prefix" text null, "list_limit" int not null, "roles_claim" text not null,
        "directory_roles" boolean not null, "mappings" jsonb not null, "version" int not null,
        "updated_at" timestamptz not null, primary key ("project_id", "client_id"),
        constraint "claim_settings_groups_check" check ("groups" in ('all', 'assigned', 'prefix')),
        constraint "claim_settings_project_id_client_id_foreign" foreign key ("project_id", "client_id")
          references "clients" ("project_id", "id") on delete cascade)`,
      ...['client_roles', 'role_assignments', 'claim_settings'].flatMap((name) => [
        `alter table "${name}" enable row level security`,
        `drop policy if exists "project" on "${name}"`,
        `create policy "project" on "${name}" using (project_id::text in (current_setting('latchkey.project', true)))`,
      ]),
    );
  }
}
