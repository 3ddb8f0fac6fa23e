import { Migration } from '@mikro-orm/migrations';

/** Groups, all email addresses of a user, the directory's recent requests, and indexes in byte order for SCIM's filters. */
export class Migration20261121000100Scim extends Migration {
  override up(): void {
    this.addSql(
      `create table "user_emails" ("user_id" uuid not null, "value_key" text not null, "project_id" uuid not null, primary key ("user_id", "value_key"))`,
    );
    this.addSql(
      `create table "groups" ("id" uuid not null, "project_id" uuid not null, "display_name" text not null, "external_id" text null, "version" int not null default 1, "created_at" timestamptz not null, "updated_at" timestamptz not null, primary key ("id"))`,
    );
    this.addSql(
      `create table "group_members" ("group_id" uuid not null, "user_id" uuid not null, "created_at" timestamptz not null, primary key ("group_id", "user_id"))`,
    );
    this.addSql(
      `create table "scim_request_records" ("id" uuid not null, "project_id" uuid not null, "at" timestamptz not null, "token_id" uuid not null, "token_name" text not null, "method" text not null, "path" text not null, "resource_id" uuid null, "status" int not null, "scim_type" text null, "detail" text null, "duration_ms" int not null, "user_agent" text null, "request_body" text null, "response_body" text null, primary key ("id"))`,
    );
    this.addSql(
      `create index "user_emails_project_id_value_key_index" on "user_emails" ("project_id", "value_key" collate "C", "user_id")`,
    );
    this.addSql(`create index "groups_project_id_id_index" on "groups" ("project_id", "id")`);
    this.addSql(
      `create index "groups_project_id_display_name_index" on "groups" ("project_id", lower("display_name") collate "C", "id")`,
    );
    this.addSql(
      `create index "groups_project_id_external_id_index" on "groups" ("project_id", "external_id" collate "C")`,
    );
    this.addSql(`create index "group_members_user_id_index" on "group_members" ("user_id")`);
    this.addSql(
      `create index "scim_request_records_project_id_id_index" on "scim_request_records" ("project_id", "id")`,
    );
    this.addSql(`create index "scim_request_records_resource_id_index" on "scim_request_records" ("resource_id")`);
    this.addSql(`drop index "users_project_id_external_id_index"`);
    this.addSql(
      `create index "users_project_id_external_id_index" on "users" ("project_id", "external_id" collate "C")`,
    );
    this.addSql(
      `create index "users_project_id_user_name_key_index" on "users" ("project_id", "user_name_key" collate "C", "id")`,
    );
    this.addSql(
      `create index "users_project_id_display_name_index" on "users" ("project_id", lower("display_name") collate "C", "id")`,
    );
    const foreignKeys = [
      ['user_emails', 'user_id', 'users', ''],
      ['user_emails', 'project_id', 'projects', ''],
      ['groups', 'project_id', 'projects', ''],
      ['group_members', 'group_id', 'groups', 'on update cascade '],
      ['group_members', 'user_id', 'users', 'on update cascade '],
      ['scim_request_records', 'project_id', 'projects', ''],
    ] as const;
    for (const [table, column, parent, onUpdate] of foreignKeys) {
      this.addSql(
        `alter table "${table}" add constraint "${table}_${column}_foreign" foreign key ("${column}") references "${parent}" ("id") ${onUpdate}on delete cascade`,
      );
    }
  }
}
