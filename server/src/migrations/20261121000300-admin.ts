import { Migration } from '@mikro-orm/migrations';

/** People are looked for by the beginning of their login e-mail, too. */
export class Migration20261121000300Admin extends Migration {
  override up(): void {
    this.addSql(
      `create index "users_project_id_email_key_index" on "users" ("project_id", "email_key" collate "C", "id")`,
    );
  }
}
