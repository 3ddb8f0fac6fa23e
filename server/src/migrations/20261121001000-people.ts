import { Migration } from '@mikro-orm/migrations';

/** Indexes to find, filter and sort users by family name. */
export class Migration20261121001000People extends Migration {
  override up(): void {
    this.addSql(
      `create index "users_project_id_family_name_index" on "users" ("project_id", lower("family_name") collate "C")`,
    );
    this.addSql(
      `create index "users_project_id_active_provenance_id_index" on "users" ("project_id", "active", "provenance", "id")`,
    );
    this.addSql(
      `create index "users_project_id_last_sign_in_at_id_index" on "users" ("project_id", "last_sign_in_at", "id")`,
    );
  }
}
