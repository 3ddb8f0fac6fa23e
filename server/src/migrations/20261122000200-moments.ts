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
    // The origin of each address; of loopback addresses without the port, which is free (RFC 8252 §7.3).
    this.addSql(`create function "redirect_origins" (uris text[]) returns text[] language sql immutable strict parallel safe
      as $body$
        select coalesce(array_agg(distinct case when origin like 'http:%' then regexp_replace(origin, ':[0-9]+$', '')
          else regexp_replace(origin, ':443$', '') end), '{}')
        from (select substring(uri from '^https://[^/?]+') as origin from unnest(uris) uri
          union all select substring(uri from '^http://[^/?]+') from unnest(uris) uri) origins
        where origin is not null
      $body$`);
    this.addSql(
      'create index "clients_redirect_origins_index" on "clients" using gin (redirect_origins("redirect_uris"))',
    );
  }
}
