import { Migration } from '@mikro-orm/migrations';

/** Branding of a project's pages and mails: a draft, published versions, and their logos. */
export class Migration20261121001100Experience extends Migration {
  override up(): void {
    this.addSql(
      `create table "experience_drafts" ("project_id" uuid not null, "content" jsonb null, "version" int not null, "updated_at" timestamptz not null, "updated_by" text null, primary key ("project_id"))`,
    );
    this.addSql(
      `alter table "experience_drafts" add constraint "experience_drafts_project_id_foreign" foreign key ("project_id") references "projects" ("id") on update cascade on delete cascade`,
    );
    this.addSql(
      `create table "experience_versions" ("id" uuid not null, "project_id" uuid not null, "number" int not null, "content" jsonb not null, "published_at" timestamptz not null, "published_by" text null, "reverted_to" int null, primary key ("id"))`,
    );
    this.addSql(
      `alter table "experience_versions" add constraint "experience_versions_project_id_number_unique" unique ("project_id", "number")`,
    );
    this.addSql(
      `alter table "experience_versions" add constraint "experience_versions_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade`,
    );
    this.addSql(
      `create table "logos" ("id" uuid not null, "project_id" uuid not null, "type" text not null, "bytes" bytea not null, "width" int not null, "height" int not null, "created_at" timestamptz not null, primary key ("id"))`,
    );
    this.addSql(`create index "logos_project_id_index" on "logos" ("project_id")`);
    this.addSql(
      `alter table "logos" add constraint "logos_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade`,
    );
  }
}
