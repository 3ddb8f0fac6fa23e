import { Migration } from '@mikro-orm/migrations';

/** Index of messages by result: failed ones are few. */
export class Migration20261121001102Messages extends Migration {
  override up(): void {
    this.addSql(`create index "messages_project_id_state_id_index" on "messages" ("project_id", "state", "id")`);
  }
}
