import type { AdminHarness } from './admin-harness.ts';
import { rows } from './rows.ts';

/** Counters and logs, which a refused call may change. */
const uncounted = ['audit_log', 'budgets', 'repeated_refusals'];

/** The rows that mutations could have changed, counted by one statement. */
export async function snapshot({ services: { db } }: AdminHarness) {
  const tables = await rows<{ name: string }>(
    db,
    `select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relname <> all(?::text[])`,
    [uncounted],
  );
  const counts = tables.map(({ name }) => `(select count(*) from "${name}") as "${name}"`);
  return rows(
    db,
    `select ${counts.join()},
            (select count(*) from api_keys where revoked_at is null) as keys,
            (select count(*) from client_secrets where revoked_at is null) as secrets,
            (select count(*) from scim_tokens where revoked_at is null) as scim,
            (select count(*) from delegation_keys where expires_at is null) as delegation,
            (select count(*) from admin_tokens where revoked_at is null and name = 'CI') as tokens,
            (select count(*) from sessions where ended_at is null) as sessions,
            (select count(*) from credentials where revoked_at is null) as devices,
            (select count(*) from users where active) as active,
            (select count(*) from logout_deliveries where state = 'failed') as undelivered,
            (select max(version) from projects) as version`,
  );
}
