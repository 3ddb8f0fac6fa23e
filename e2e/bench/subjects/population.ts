import type { Latchkey } from '../../support/latchkey.ts';
import { databaseUrl } from './latchkey.ts';

/** The part of a `pg` connection used here; `pg`'s types belong to the server. */
interface Client {
  connect(): Promise<void>;
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
  end(): Promise<void>;
}

/** Runs SQL on a server's database, where the API would take too long. */
export async function onDatabase<T>(server: Latchkey, work: (client: Client) => Promise<T>): Promise<T> {
  const name = 'pg';
  const { default: pg } = (await import(name)) as { default: { Client: new (options: object) => Client } };
  const client = new pg.Client({ connectionString: databaseUrl(server) });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Inserts users as provisioned by a directory: `user-000042@example.com`. @param from number of the first
 * @param atWork three of four have signed in, half have a second factor and a session
 */
export async function populate(
  server: Latchkey,
  projectId: string,
  count: number,
  { from = 0, atWork = false }: { from?: number; atWork?: boolean } = {},
): Promise<void> {
  await onDatabase(server, async (client) => {
    await client.query(
      `with made as (
         insert into users (id, project_id, user_name, user_name_key, external_id, display_name, given_name, family_name,
           email, email_key, active, provenance, attributes, version, created_at, updated_at, last_sign_in_at)
         select gen_random_uuid(), $1, name, name, 'ext-' || n, 'User ' || n, 'User', 'Number ' || n, name, name, true, 'scim',
           jsonb_build_object('emails', jsonb_build_array(jsonb_build_object('value', name, 'type', 'work', 'primary', true)),
             'title', 'Engineer', 'locale', 'en-US'), 1, now(), now(),
             case when $4::bool and n % 4 <> 0 then now() - (n % 900) * interval '3 hours' end
         from generate_series($3::int, $3::int + $2::int - 1) n, lateral (select 'user-' || lpad(n::text, greatest(6, length(n::text)), '0') || '@example.com') as t(name)
         returning id, project_id, email_key, external_id
       ), at_work as (
         select project_id, id, external_id from made where $4::bool and right(external_id, 1) in ('1', '3', '5', '7', '9')
       ), factors as (
         insert into enrolments (project_id, id, user_id, method, created_at, verified_at)
         select project_id, gen_random_uuid(), id, 'totp', now(), now() from at_work
       ), present as (
         insert into sessions (id, project_id, user_id, secret_hash, auth_time, amr, created_at, last_seen_at, idle_expires_at, expires_at)
         select gen_random_uuid(), project_id, id, external_id, now(), '{swk}', now(), now(), now() + interval '7 days',
           now() + interval '30 days' from at_work
       )
       insert into user_emails (user_id, value_key, project_id) select id, email_key, project_id from made`,
      [projectId, count, from, atWork],
    );
    await client.query('vacuum analyze');
  });
}
