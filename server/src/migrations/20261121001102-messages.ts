import { Migration } from '@mikro-orm/migrations';

/** The log of messages is read by what became of them: the few that failed, without the many that did not. */
export class Migration20261121001102Messages extends Migration {
  override up(): void {
    this.addSql(`create index "messages_project_id_state_id_index" on "messages" ("project_id", "state", "id")`);
  }
}
