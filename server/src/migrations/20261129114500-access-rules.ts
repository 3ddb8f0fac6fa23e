import { OnlineMigration } from './online.ts';

/**
 * Access rules of clients (decisions/0371). Every client starts open to everyone. The previous release, while both run, does not
 * check rules: switch a client to `assigned` after the last process has been updated.
 */
export class Migration20261129114500AccessRules extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "clients" add column if not exists "access" text not null default 'everyone'
        constraint "clients_access_check" check ("access" in ('everyone', 'assigned'))`,
    );
    await this.alter(
      `create table if not exists "access_rules" (
        project_id uuid not null, id uuid not null, client_id uuid not null, user_id uuid, group_id uuid, role_id uuid,
        created_at timestamptz not null,
        constraint access_rules_pkey primary key (project_id, id),
        constraint access_rules_project_id_client_id_user_id_unique unique (project_id, client_id, user_id),
        constraint access_rules_project_id_client_id_group_id_unique unique (project_id, client_id, group_id),
        constraint access_rules_project_id_client_id_role_id_unique unique (project_id, client_id, role_id),
        constraint access_rules_project_id_client_id_foreign foreign key (project_id, client_id) references clients(project_id, id) on delete cascade,
        constraint access_rules_project_id_user_id_foreign foreign key (project_id, user_id) references users(project_id, id) on delete cascade,
        constraint access_rules_project_id_group_id_foreign foreign key (project_id, group_id) references groups(project_id, id) on delete cascade,
        constraint access_rules_project_id_role_id_foreign foreign key (project_id, role_id) references client_roles(project_id, id) on delete cascade,
        constraint access_rules_holder check (num_nonnulls(user_id, group_id, role_id) = 1)
      )`,
      'create index if not exists access_rules_project_id_user_id_index on access_rules (project_id, user_id)',
      'create index if not exists access_rules_project_id_group_id_index on access_rules (project_id, group_id)',
      'create index if not exists access_rules_project_id_role_id_index on access_rules (project_id, role_id)',
      'alter table access_rules enable row level security',
      'drop policy if exists project on access_rules',
      `create policy project on access_rules using (project_id::text = current_setting('latchkey.project', true))`,
    );
  }
}
