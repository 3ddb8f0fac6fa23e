import { OnlineMigration } from './online.ts';

/** Groups in groups. The previous release neither shows nor changes them. */
export class Migration20261123013002NestedGroups extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `create table if not exists "group_nestings" ("project_id" uuid not null, "group_id" uuid not null,
        "member_id" uuid not null, "created_at" timestamptz not null,
        primary key ("project_id", "group_id", "member_id"),
        constraint "group_nestings_project_id_group_id_foreign" foreign key ("project_id", "group_id")
          references "groups" ("project_id", "id") on delete cascade,
        constraint "group_nestings_project_id_member_id_foreign" foreign key ("project_id", "member_id")
          references "groups" ("project_id", "id") on delete cascade)`,
      `create index if not exists "group_nestings_project_id_member_id_index"
        on "group_nestings" ("project_id", "member_id")`,
      `alter table "group_nestings" enable row level security`,
      `drop policy if exists "project" on "group_nestings"`,
      `create policy "project" on "group_nestings" using (project_id::text in (current_setting('latchkey.project', true)))`,
    );
  }
}
