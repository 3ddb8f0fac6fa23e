import { OnlineMigration } from './online.ts';

/** Records of SCIM requests name the users they concern. Those of the previous release name none: any erasure redacts them. */
export class Migration20261123000500Erasures extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "scim_request_records" add column if not exists "concerns" text[] null`,
      `create table if not exists "scim_erasures" ("project_id" uuid not null, "id" uuid not null, "at" timestamptz not null,
        "marks" text[] not null, primary key ("project_id", "id"),
        constraint "scim_erasures_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade)`,
      `create index if not exists "scim_erasures_at_index" on "scim_erasures" ("at")`,
      `alter table "scim_erasures" enable row level security`,
      `drop policy if exists "project" on "scim_erasures"`,
      `create policy "project" on "scim_erasures" using (project_id::text in (current_setting('latchkey.project', true)))`,
    );
  }
}
