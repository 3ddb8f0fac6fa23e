import { Migration } from '@mikro-orm/migrations';

/** Indexes that find the messages and events of an erased user. */
export class Migration20261121000101Erasure extends Migration {
  override up(): void {
    this.addSql(`create index "audit_events_actor_id_id_index" on "audit_events" ("actor_id", "id")`);
    this.addSql(`create index "messages_project_id_recipient_index" on "messages" ("project_id", "recipient")`);
  }
}
