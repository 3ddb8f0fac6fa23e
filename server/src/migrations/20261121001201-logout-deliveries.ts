import { Migration } from '@mikro-orm/migrations';

/** Indexes of deliveries: by application, state and user, by due time, and by age. */
export class Migration20261121001201LogoutDeliveries extends Migration {
  override up(): void {
    this.addSql(
      `create index "logout_deliveries_client_id_state_id_index" on "logout_deliveries" ("client_id", "state", "id")`,
    );
    this.addSql(
      `create index "logout_deliveries_project_id_state_id_index" on "logout_deliveries" ("project_id", "state", "id")`,
    );
    this.addSql(`create index "logout_deliveries_subject_id_index" on "logout_deliveries" ("subject", "id")`);
    this.addSql(
      `create index "logout_deliveries_project_id_created_at_index" on "logout_deliveries" ("project_id", "created_at") include ("client_id", "state", "delivered_at")`,
    );
    this.addSql(`create index "logout_deliveries_created_at_index" on "logout_deliveries" ("created_at")`);
    this.addSql(
      `create index "logout_deliveries_due_index" on "logout_deliveries" ("next_attempt_at") where "state" = 'pending'`,
    );
  }
}
