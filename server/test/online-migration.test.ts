/**
 * A filled database is migrated while the previous release writes to it. `LATCHKEY_MIGRATION_USERS=1000000` measures a
 * large one: duration, and the longest write.
 */
import pg from 'pg';
import { expect, it } from 'vitest';
import { migrate, openDatabase } from '../src/adapters/postgres/database.ts';
import { emptyDatabase } from './database.ts';
import { administer } from './global-setup.ts';

const users = Number(process.env['LATCHKEY_MIGRATION_USERS'] ?? 2_000);
const before = '20261122000200-moments';
const id = (prefix: string, n: string) => `('${prefix}' || lpad(to_hex(${n}), 12, '0'))::uuid`;
const [project, client, group] = ['project', 'client', 'group'].map(
  (_, at) => `'019a0000-0000-7000-8000-00000000000${at}'`,
);
const [user, session] = ['019a0001-0000-7000-8000-', '019a0002-0000-7000-8000-'] as const;

/** Rows as the previous release writes them. */
const filling = [
  `insert into projects (id, name, created_at, updated_at) values (${project}, 'p', now(), now())`,
  `insert into clients (id, project_id, name, token_endpoint_auth_method, redirect_uris, post_logout_redirect_uris, created_at, updated_at)
   values (${client}, ${project}, 'c', 'none', '{}', '{}', now(), now())`,
  `insert into groups (id, project_id, display_name, created_at, updated_at) values (${group}, ${project}, 'g', now(), now())`,
  `insert into users (id, project_id, user_name, user_name_key, created_at, updated_at)
   select ${id(user, 'n')}, ${project}, n, n, now(), now() from generate_series(1, ${users}) n`,
  `insert into sessions (id, project_id, user_id, secret_hash, auth_time, amr, created_at, last_seen_at, idle_expires_at, expires_at)
   select ${id(session, 'n')}, ${project}, ${id(user, 'n')}, n, now(), '{}', now(), now(), now(), now() from generate_series(1, ${users}) n`,
  `insert into participations (session_id, client_id, first_at, last_at)
   select ${id(session, 'n')}, ${client}, now(), now() from generate_series(1, ${users}) n`,
  `insert into enrolments (id, user_id, method, created_at)
   select gen_random_uuid(), ${id(user, 'n')}, 'totp', now() from generate_series(1, ${users} / 2) n`,
  `insert into recovery_codes (id, user_id, hash, created_at)
   select gen_random_uuid(), ${id(user, 'n')}, gen_random_uuid(), now() from generate_series(1, ${users} / 10) n, generate_series(1, 10)`,
  `insert into group_members (group_id, user_id, created_at)
   select ${group}, ${id(user, 'n')}, now() from generate_series(1, ${users}) n`,
  `insert into known_networks (user_id, network, last_at)
   select ${id(user, 'n')}, 'n', now() from generate_series(1, ${users}) n`,
  `insert into authorization_codes (id, hash, client_id, user_id, scope, auth_time, amr, created_at, expires_at, forget_at)
   select gen_random_uuid(), gen_random_uuid(), ${client}, ${id(user, 'n')}, '', now(), '{}', now(), now(), now()
   from generate_series(1, ${users} / 5) n`,
  `insert into devices (id, project_id, client_id, user_id, jkt, public_jwk, alg, name, created_at, last_used_at)
   select gen_random_uuid(), ${project}, ${client}, ${id(user, 'n')}, n, '{}', 'ES256', 'd', now(), now()
   from generate_series(1, ${users}) n`,
];

/** Writes of the previous release during the migration, for one user. */
const writes = [
  `insert into enrolments (id, user_id, method, created_at) values (gen_random_uuid(), $1, 'totp', now())`,
  `insert into recovery_codes (id, user_id, hash, created_at) values (gen_random_uuid(), $1, gen_random_uuid(), now())`,
  `insert into participations (session_id, client_id, first_at, last_at) select id, ${client}, now(), now() from sessions where user_id = $1
   on conflict (session_id, client_id) do update set last_at = excluded.last_at`,
  `insert into known_networks (user_id, network, last_at) values ($1, 'n', now())
   on conflict (user_id, network) do update set last_at = excluded.last_at`,
  `insert into authorization_codes (id, hash, client_id, user_id, scope, auth_time, amr, created_at, expires_at, forget_at)
   values (gen_random_uuid(), gen_random_uuid(), ${client}, $1, '', now(), '{}', now(), now(), now())`,
  'update sessions set last_seen_at = now() where user_id = $1',
  'update users set last_sign_in_at = now() where id = $1',
  `update enrolments set last_used_at = now() where user_id = $1`,
  `insert into devices (id, project_id, client_id, user_id, jkt, public_jwk, alg, name, created_at, last_used_at)
   values (gen_random_uuid(), ${project}, ${client}, $1, gen_random_uuid(), '{}', 'ES256', 'd', now(), now())`,
  `update devices set last_used_at = now() where user_id = $1`,
];

it('a filled database is migrated while the previous release writes to it', async () => {
  const database = await emptyDatabase();
  const orm = await openDatabase({ url: database.url, poolSize: 1 });
  await orm.migrator.up({ to: before });
  await orm.close(true);
  await administer(database.url, async (admin) => {
    for (const statement of filling) await admin.query(statement);
  });

  let isDone = false;
  const began = performance.now();
  const migrated = migrate(database.url).finally(() => (isDone = true));
  const writing = Array.from({ length: 2 }, (_, at) => writeUntil(database.url, at, () => isDone));
  const [, ...longest] = await Promise.all([migrated, ...writing]);
  const seconds = (performance.now() - began) / 1000;
  if (process.env['LATCHKEY_MIGRATION_USERS']) {
    console.info(`${users} users: ${seconds.toFixed(1)} s, longest write ${Math.round(Math.max(...longest))} ms`);
  }

  await administer(database.url, async (admin) => {
    for (const table of [
      'enrolments',
      'recovery_codes',
      'participations',
      'group_members',
      'known_networks',
      'authorization_codes',
    ]) {
      const { rows } = await admin.query(
        `select count(*)::int as count from ${table} where project_id is distinct from ${project}`,
      );
      expect(rows, table).toEqual([{ count: 0 }]);
    }
  });
  await database.drop();
}, 3_600_000);

it('a filled database is migrated in one transaction, as by a restore', async () => {
  const database = await emptyDatabase();
  const orm = await openDatabase({ url: database.url, poolSize: 2, migrateInOne: true });
  await orm.em.fork().transactional(async (em) => {
    const transaction = em.getTransactionContext();
    await orm.migrator.up({ to: before, transaction });
    for (const statement of filling) await em.execute(statement.replaceAll(String(users), '20'));
    await orm.migrator.up({ transaction });
    const [left] = await em.execute(
      `select count(*)::int as count from enrolments where project_id is distinct from ${project}`,
    );
    expect(left).toEqual({ count: 0 });
  });
  await orm.close(true);
  await database.drop();
});

/** Returns the milliseconds of the longest write. */
async function writeUntil(url: string, at: number, isDone: () => boolean): Promise<number> {
  const connection = new pg.Client({ connectionString: url });
  await connection.connect();
  let longest = 0;
  for (let n = 0; !isDone() || n < writes.length; n += 1) {
    const began = performance.now();
    const statement = writes[n % writes.length] as string;
    const subject = `${user}${(1 + ((n * 7919 + at) % users)).toString(16).padStart(12, '0')}`;
    await connection.query(statement, [subject]);
    longest = Math.max(longest, performance.now() - began);
  }
  await connection.end();
  return longest;
}
