import { Migration } from '@mikro-orm/migrations';

/**
 * The request whose own sign-in proved the person of a session; the order of logout tokens for one client; events that
 * stand for many refusals; look-up of clients by origin.
 */
export class Migration20261122000200Moments extends Migration {
  override up(): void {
    this.addSql('alter table "sessions" add column "fresh_moment" bigint null');
    this.addSql('alter table "audit_events" add column "repeat_key" text null');
    this.addSql(
      'create unique index "audit_events_repeat_key_unique" on "audit_events" ("repeat_key") where "repeat_key" is not null',
    );
    this.addSql('alter table "logout_deliveries" add column "after_id" uuid null');
    this.addSql(
      'create index "logout_deliveries_after_id_index" on "logout_deliveries" ("after_id") where "after_id" is not null',
    );
  }
}
