import { OnlineMigration } from './online.ts';

/** Custom attributes of a project's users, and the index of their values. */
export class Migration20261123012000CustomAttributes extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `create table if not exists "custom_schemas" ("project_id" uuid not null, "version" int not null,
        "attributes" jsonb not null, "removed" text[] not null, "updated_at" timestamptz not null,
        primary key ("project_id"),
        constraint "custom_schemas_project_id_foreign" foreign key ("project_id")
          references "projects" ("id") on delete cascade)`,
      `create table if not exists "custom_values" ("project_id" uuid not null, "user_id" uuid not null,
        "attribute" text not null, "key" text not null, "is_unique" boolean not null,
        primary key ("project_id", "user_id", "attribute", "key"),
        constraint "custom_values_project_id_user_id_foreign" foreign key ("project_id", "user_id")
          references "users" ("project_id", "id") on delete cascade)`,
      `create unique index if not exists "custom_values_project_id_attribute_key_unique"
        on "custom_values" ("project_id", "attribute", "key") where "is_unique"`,
      `create index if not exists "custom_values_project_id_attribute_key_user_id_index"
        on "custom_values" ("project_id", "attribute", "key" collate "C", "user_id")`,
      ...['custom_schemas', 'custom_values'].flatMap((name) => [
        `alter table "${name}" enable row level security`,
        `drop policy if exists "project" on "${name}"`,
        `create policy "project" on "${name}" using (project_id::text in (current_setting('latchkey.project', true)))`,
      ]),
    );
  }
}
