import { Migration } from '@mikro-orm/migrations';

/** Indexes of events by application, and of failures. */
export class Migration20261121001200Events extends Migration {
  override up(): void {
    this.addSql(
      `create index "audit_events_client_id_id_index" on "audit_events" ("client_id", "id") where "client_id" is not null`,
    );
    this.addSql(
      `create index "audit_events_project_id_id_failure_index" on "audit_events" ("project_id", "id") where "result" = 'failure'`,
    );
    this.addSql(
      `create index "audit_events_project_id_type_id_failure_index" on "audit_events" ("project_id", "type", "id") where "result" = 'failure'`,
    );
    this.addSql(`create index "audit_events_id_failure_index" on "audit_events" ("id") where "result" = 'failure'`);
    this.addSql(`create index "audit_events_type_id_index" on "audit_events" ("type", "id")`);
  }
}
