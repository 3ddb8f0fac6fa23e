import { Migration } from '@mikro-orm/migrations';

/** Counts of past days, and of directory requests as they arrive. */
export class Migration20261121001203Activity extends Migration {
  override up(): void {
    this.addSql(
      `create table "activity_days" ("project_id" uuid not null, "day" date not null, "sign_ins" int not null, "sign_ins_on_known_devices" int not null, "active_users" int not null, "codes_sent" int not null, "codes_verified" int not null, "code_seconds" int not null, "refused" int not null, "logouts_delivered" int not null, "logouts_failed" int not null, primary key ("project_id", "day"))`,
    );
    this.addSql(
      `create table "activity_progress" ("id" text not null, "counted_before" date not null, primary key ("id"))`,
    );
    this.addSql(
      `create table "scim_days" ("project_id" uuid not null, "day" date not null, "requests" int not null, "refused" int not null, "failed" int not null, primary key ("project_id", "day"))`,
    );
    for (const table of ['activity_days', 'scim_days']) {
      this.addSql(
        `alter table "${table}" add constraint "${table}_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade`,
      );
    }
  }
}
