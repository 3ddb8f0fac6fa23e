import { OnlineMigration } from './online.ts';

/** Organization roles of groups (decisions/0403). The previous release, while both run, gives members their own roles only. */
export class Migration20261130041300OrganizationRolesOfGroups extends OnlineMigration {
  override async up(): Promise<void> {
    const table = 'organization_group_roles';
    const parent = (column: string, of: string) =>
      `constraint ${table}_project_id_${column}_foreign foreign key (project_id, ${column}) references ${of}(project_id, id) on delete cascade`;
    await this.alter(
      `create table if not exists "${table}" (
        project_id uuid not null, group_id uuid not null, role_id uuid not null,
        constraint ${table}_pkey primary key (project_id, group_id, role_id),
        ${parent('group_id', 'groups')},
        ${parent('role_id', 'organization_roles')}
      )`,
      `create index if not exists ${table}_project_id_role_id_index on ${table} (project_id, role_id)`,
      `alter table ${table} enable row level security`,
      `drop policy if exists project on ${table}`,
      `create policy project on ${table} using (project_id::text = current_setting('latchkey.project', true))`,
    );
  }
}
