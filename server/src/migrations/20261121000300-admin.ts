import { Migration } from '@mikro-orm/migrations';

/** Index for searches of users by a prefix of the login email. */
export class Migration20261121000300Admin extends Migration {
  override up(): void {
    this.addSql(
      `create index "users_project_id_email_key_index" on "users" ("project_id", "email_key" collate "C", "id")`,
    );
  }
}
