import { Migration } from '@mikro-orm/migrations';

/**
 * The request whose own sign-in proved the person of a session; the order of logout tokens for one client.
 */
export class Migration20261122000200Moments extends Migration {
  override up(): void {
    this.addSql('alter table "sessions" add column "fresh_moment" bigint null');
    this.addSql('alter table "logout_deliveries" add column "after_id" uuid null');
    this.addSql(
      'create index "logout_deliveries_after_id_index" on "logout_deliveries" ("after_id") where "after_id" is not null',
    );
  }
}
