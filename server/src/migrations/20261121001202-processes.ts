import { Migration } from '@mikro-orm/migrations';

/** The processes that run on this database. */
export class Migration20261121001202Processes extends Migration {
  override up(): void {
    this.addSql(
      `create table "processes" ("id" uuid not null, "host" text not null, "pid" int not null, "version" text not null, "node_version" text not null, "started_at" timestamptz not null, "seen_at" timestamptz not null, "sign_microseconds" int null, "clock_skew_ms" int not null, primary key ("id"))`,
    );
  }
}
