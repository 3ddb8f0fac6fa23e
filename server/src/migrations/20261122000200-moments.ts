import { OnlineMigration } from './online.ts';

/**
 * The request whose own sign-in authenticated the user of a session; the order of logout tokens for one client; events
 * that represent many refusals; lookup of clients by origin.
 */
export class Migration20261122000200Moments extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter('alter table "sessions" add column if not exists "fresh_moment" bigint null');
    await this.alter('alter table "audit_events" add column if not exists "repeat_key" text null');
    const [repeated, followed] = ['"repeat_key"', '"after_id"'];
    await this.index(
      'audit_events',
      'audit_events_repeat_key_unique',
      repeated,
      true,
      'btree',
      `${repeated} is not null`,
    );
    await this.alter('alter table "logout_deliveries" add column if not exists "after_id" uuid null');
    await this.index(
      'logout_deliveries',
      'logout_deliveries_after_id_index',
      followed,
      false,
      'btree',
      `${followed} is not null`,
    );
    // The origin of each address; of loopback addresses without the port, which is free (RFC 8252 §7.3).
    await this.alter(`create or replace function "redirect_origins" (uris text[]) returns text[] language sql immutable strict parallel safe
      as $body$
        select coalesce(array_agg(distinct case when origin like 'http:%' then regexp_replace(origin, ':[0-9]+$', '')
          else regexp_replace(origin, ':443$', '') end), '{}')
        from (select substring(uri from '^https://[^/?]+') as origin from unnest(uris) uri
          union all select substring(uri from '^http://[^/?]+') from unnest(uris) uri) origins
        where origin is not null
      $body$`);
    await this.index('clients', 'clients_redirect_origins_index', 'redirect_origins("redirect_uris")', false, 'gin');
  }
}
