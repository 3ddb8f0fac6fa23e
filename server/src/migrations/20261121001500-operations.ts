import { Migration } from '@mikro-orm/migrations';

/** Backups of the instance, and MAC keys kept after a change of the master key. */
export class Migration20261121001500Operations extends Migration {
  override up(): void {
    this.addSql(
      `create table "backups" ("id" uuid not null, "file" text not null, "taken_at" timestamptz not null, "finished_at" timestamptz not null, "bytes" bigint not null, "rows" bigint not null, "checksum" text not null, primary key ("id"))`,
    );
    this.addSql(`create index "backups_taken_at_index" on "backups" ("taken_at")`);
    this.addSql(
      `create table "retired_mac_keys" ("id" text not null, "purpose" text not null, "sealed_key" bytea not null, "created_at" timestamptz not null, primary key ("id"))`,
    );
  }
}
