import pg from 'pg';
import { AdminApi } from '../support/admin-api.ts';
import { startLatchkey } from '../support/latchkey.ts';
import { cpuMilliseconds } from './harness/process.ts';
import { type Print, printColumns } from './harness/table.ts';
import { databaseUrl, postmasterPid } from './subjects/latchkey.ts';

const size = { users: 100_000, projects: 1000, clients: 300, groups: 2000, events: 300_000, deliveries: 100_000 };
/** Limit for a request of a console page, in milliseconds. */
const limitMs = 100;
const runs = 21;

/** A request of a console page. */
export interface Question {
  page: string;
  query: string;
  variables?: Record<string, unknown>;
}

/** Sequential scans count from this table size, in rows. */
const smallTable = 5000;

/**
 * Every list, search and filter of the console with 100,000 users in one project and 1,000 projects: request time, and
 * the indexes used, from PostgreSQL's statistics.
 */
export async function consoleLists(print: Print): Promise<void> {
  const latchkey = await startLatchkey({ DATABASE_POOL_SIZE: '3', LOG_LEVEL: 'warn' });
  const database = new pg.Client({ connectionString: databaseUrl(latchkey) });
  try {
    await database.connect();
    const api = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
    const world = await fill(api, database);
    const pids = [latchkey.pid, postmasterPid(latchkey.dataDir)];
    const lines: string[][] = [];
    let over = 0;
    for (const question of questions(world)) {
      const { p50, p90, cpu, indexes, scanned } = await ask(api, database, question, pids);
      if (p90 > limitMs) over += 1;
      const read = [...indexes, ...scanned.map((table) => `all of ${table}`)].join(', ');
      lines.push([question.page, read, cpu.toFixed(1), p50.toFixed(1), p90.toFixed(1), p90 <= limitMs ? '✓' : '✗']);
    }
    printColumns(['page', 'read', 'CPU ms', 'p50 ms', 'p90 ms', `≤ ${limitMs} ms`], lines, print);
    print('');
    print(
      `${lines.length} queries, ${runs} times each, over HTTP from the same machine; ${over} exceed ${limitMs} ms at p90.`,
    );
  } finally {
    await database.end().catch(() => undefined);
    await latchkey.stop();
  }
}

/** Ids of the resources in the requests. */
export interface World {
  projectId: string;
  clientId: string;
  userId: string;
  groupId: string;
}

/** Every list, search and filter of the console. */
export function questions({ projectId, clientId, userId, groupId }: World): Question[] {
  const id = { id: projectId };
  const row = 'id userName displayName email active provenance lastSignInAt';
  const info = 'pageInfo { hasNextPage endCursor }';
  const users = (page: string, variables: object): Question => ({
    page: `Users: ${page}`,
    query: `query ($id: ID!, $search: String, $filter: UserFilter, $orderBy: UserOrder, $after: String) {
      users(projectId: $id, search: $search, filter: $filter, orderBy: $orderBy, first: 50, after: $after) {
        totalCount ${info} edges { node { ${row} } } } }`,
    variables: { ...id, ...variables },
  });
  const events = (page: string, filter: object, everywhere = false): Question => ({
    page: `Events: ${page}`,
    query: `query ($id: ID, $filter: AuditEventFilter) { auditEvents(projectId: $id, filter: $filter, first: 50) {
      ${info} edges { node { id at type detail actor { name } subject { name } client { name } project { name } } } } }`,
    variables: { id: everywhere ? null : projectId, filter },
  });
  const deliveries = (page: string, filter: object): Question => ({
    page: `Logout deliveries: ${page}`,
    query: `query ($id: ID!, $filter: LogoutDeliveryFilter) { logoutDeliveries(projectId: $id, filter: $filter, first: 25) {
      ${info} edges { node { id state client { name } user { userName } attempts { status } } } } }`,
    variables: { ...id, filter },
  });
  const groups = (page: string, search: string | null): Question => ({
    page: `Groups: ${page}`,
    query: `query ($id: ID!, $search: String) { groups(projectId: $id, search: $search, first: 50) {
      totalCount ${info} edges { node { id displayName } } } }`,
    variables: { ...id, search },
  });
  const projects = (page: string, search: string | null): Question => ({
    page: `Projects: ${page}`,
    query: `query ($search: String) { projects(search: $search, first: 50) { totalCount ${info} edges { node { id name } } } }`,
    variables: { search },
  });
  const clients = (page: string, search: string | null): Question => ({
    page: `Applications: ${page}`,
    query: `query ($id: ID!, $search: String) { clients(projectId: $id, search: $search, first: 50) {
      totalCount ${info} edges { node { id name redirectUris } } } }`,
    variables: { ...id, search },
  });
  const now = Date.now();
  const back = (days: number) => new Date(now - days * 86_400_000).toISOString();
  return [
    projects('first page', null),
    projects('search', 'tenant 77'),
    clients('first page', null),
    clients('search', 'application 12'),
    users('first page', {}),
    users('search by name', { search: 'ada 77' }),
    users('search by email', { search: 'user77777@' }),
    users('search by one character', { search: '山' }),
    users('search by two characters', { search: '本太' }),
    users('search in Cyrillic', { search: 'ПЕТРОВ77' }),
    users('search without a match', { search: 'no match' }),
    users('by name', { orderBy: 'NAME' }),
    users('by email', { orderBy: 'EMAIL' }),
    users('by last sign-in', { orderBy: 'LAST_SIGN_IN' }),
    users('deactivated', { filter: { active: false } }),
    users('from the directory', { filter: { provenance: 'SCIM' } }),
    users('with a factor', { filter: { hasFactor: true } }),
    users('of a group', { filter: { groupId } }),
    users('not signed in since', { filter: { notSignedInSince: back(60) } }),
    users('never signed in', { filter: { hasSignedIn: false } }),
    groups('first page', null),
    groups('search', 'group 19'),
    events('first page', {}),
    events('a frequent type', { types: ['user.signed_in'] }),
    events('a rare type', { types: ['client.created'] }),
    events('all of sign-in', {
      types: ['user.signed_in', 'otp.sent', 'otp.rejected', 'mfa.rejected', 'session.ended'],
    }),
    events('failures', { result: 'FAILURE' }),
    events('failures of codes', { types: ['otp.rejected'], result: 'FAILURE' }),
    events('of a user', { userId }),
    events('of an application', { clientId }),
    events('a day two weeks ago', { since: back(15), until: back(14) }),
    events('everywhere', {}, true),
    events('everywhere, failures', { result: 'FAILURE' }, true),
    deliveries('first page', {}),
    deliveries('given up', { state: 'FAILED' }),
    deliveries('of an application', { clientId }),
    deliveries('of a user', { userId }),
    {
      page: 'Logout deliveries: by application',
      query: 'query ($id: ID!) { logoutReceivers(projectId: $id) { delivered failed pending client { name } } }',
      variables: id,
    },
    {
      page: 'Overview: charts',
      query: 'query ($id: ID!) { activity(projectId: $id, days: 28) { day signIns activeUsers codesSent refused } }',
      variables: id,
    },
    {
      page: 'Overview: figures',
      query: 'query ($id: ID!) { project(id: $id) { contents { users clients sessions scimTokens } } }',
      variables: id,
    },
    {
      page: 'Palette: users and applications',
      query: `query ($id: ID!) { users(projectId: $id, search: "ada 5", first: 5) { edges { node { id } } }
        clients(projectId: $id, search: "ada 5", first: 5) { edges { node { id } } } }`,
      variables: id,
    },
    {
      page: 'Sign-in & MFA: effects',
      query: `query ($id: ID!) { factorStanding(projectId: $id) {
        activeUsers withFactor email sms totp withPasskey sessionsWithoutPasskey pagesWithoutPasskeys }
        passkeyModelStanding(projectId: $id, aaguids: [], roots: []) { usersWithOthers usersWithOnlyOthers } }`,
      variables: id,
    },
    { page: 'System', query: '{ system { level checks { name } } }' },
  ];
}

async function ask(api: AdminApi, database: pg.Client, { query, variables }: Question, pids: readonly number[]) {
  await api.run(query, variables);
  const before = await usage(database);
  const spent = cpuMilliseconds(pids);
  const taken: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const begin = performance.now();
    await api.run(query, variables);
    taken.push(performance.now() - begin);
  }
  const cpu = (cpuMilliseconds(pids) - spent) / runs;
  // Backends report statistics at most once a second, at the end of the next transaction.
  await new Promise((resolve) => setTimeout(resolve, 1100));
  await Promise.all(Array.from({ length: 6 }, () => api.run(query, variables)));
  const after = await usage(database);
  taken.sort((a, b) => a - b);
  const used = [...after.entries()].filter(([name, { scans }]) => scans - (before.get(name)?.scans ?? 0) >= runs);
  return {
    /** Server and database per request: independent of other load on the machine. */
    cpu,
    p50: taken[Math.floor(runs / 2)] ?? 0,
    p90: taken[Math.floor(runs * 0.9)] ?? 0,
    indexes: used.filter(([, { isTable }]) => !isTable).map(([name]) => name),
    scanned: used.filter(([, { isTable }]) => isTable).map(([name]) => name),
  };
}

interface Usage {
  scans: number;
  isTable: boolean;
}

/** Scans of each list's index and of each large table. */
async function usage(database: pg.Client): Promise<Map<string, Usage>> {
  const { rows } = await database.query<{ name: string; scans: string; is_table: boolean }>(
    `select indexrelname as name, idx_scan as scans, false as is_table from pg_stat_user_indexes
       where schemaname = 'public' and relname not in ('projects', 'clients', 'processes', 'migrations')
       union all select relname, seq_scan, true from pg_stat_user_tables
       where schemaname = 'public' and n_live_tup > ${smallTable}`,
  );
  return new Map(rows.map(({ name, scans, is_table }) => [name, { scans: Number(scans), isTable: is_table }]));
}

/** Inserts rows by SQL; the API would take too long. */
async function fill(api: AdminApi, database: pg.Client): Promise<World> {
  const projectId = await api.createProject('Large');
  const backchannelLogoutUri = 'https://app.example.com/logout';
  const redirectUris = ['https://app.example.com/callback'];
  const { clientId } = await api.createClient({ projectId, name: 'Application', redirectUris, backchannelLogoutUri });
  const run = (text: string, values: unknown[] = []) => database.query(text, values);
  const { users, projects, clients, groups, events, deliveries } = size;
  await run(
    `insert into projects (id, name, created_at, updated_at)
     select gen_random_uuid(), 'Tenant ' || n, now(), now() from generate_series(1, ${projects}) n`,
  );
  await run(
    `insert into clients (id, project_id, name, token_endpoint_auth_method, redirect_uris, post_logout_redirect_uris, created_at, updated_at)
     select gen_random_uuid(), $1, 'Application ' || n, 'none', '{}', '{}', now(), now() from generate_series(1, ${clients}) n`,
    [projectId],
  );
  await run(
    `insert into users (id, project_id, user_name, user_name_key, external_id, display_name, given_name, family_name, email, email_key,
       active, provenance, created_at, updated_at, last_sign_in_at)
     select gen_random_uuid(), $1, 'user' || n || '@example.com', 'user' || n || '@example.com', 'ext-' || n,
       case when n % 9 = 0 then '山' || (array['田', '本', '下', '口'])[1 + n % 4] || '太郎' || n else 'Ada ' || n end, 'Ada',
       case when n % 9 = 1 then 'Петров' || n else 'Family ' || n % 5000 end, 'user' || n || '@example.com', 'user' || n || '@example.com', n % 50 <> 0,
       case when n % 3 = 0 then 'local' else 'scim' end, now(), now(),
       case when n % 4 <> 0 then now() - (n % 900) * interval '3 hours' end
     from generate_series(1, ${users}) n`,
    [projectId],
  );
  await run(
    `insert into enrolments (project_id, id, user_id, method, created_at, verified_at)
     select project_id, gen_random_uuid(), id, 'email', now(), now() from users where project_id = $1 and right(external_id, 1) = '7'`,
    [projectId],
  );
  await run(
    `insert into groups (id, project_id, display_name, created_at, updated_at)
     select gen_random_uuid(), $1, 'Group ' || n, now(), now() from generate_series(1, ${groups}) n`,
    [projectId],
  );
  await run(
    `insert into group_members (project_id, group_id, user_id, created_at)
     select $1, g.id, u.id, now() from (select id, row_number() over () as n from groups where project_id = $1) g
     join (select id, row_number() over () as n from users where project_id = $1) u on u.n % ${groups} = g.n % ${groups}`,
    [projectId],
  );
  await run(
    `insert into audit_log (id, project_id, at, type, result, actor_kind, actor_id, actor_name, subject_kind, subject_id, client_id, detail)
     select (lpad(to_hex((extract(epoch from t) * 1000)::bigint), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid, $1, t,
       (array['user.signed_in', 'user.signed_in', 'otp.sent', 'session.ended', 'device.registered'])[1 + n % 5], 'success',
       'user', u.id, 'Ada', 'user', u.id, $2, '{"amr":["swk"]}'
     from generate_series(1, ${events}) n cross join lateral (select now() - n * interval '8 seconds' as t) moment
     join (select id::text, row_number() over () as place from users where project_id = $1) u on u.place = 1 + n % ${users}`,
    [projectId, clientId],
  );
  await run(
    `update audit_log set type = 'otp.rejected', result = 'failure' where project_id = $1 and right(id::text, 2) = '5f'`,
    [projectId],
  );
  await run(
    `insert into logout_deliveries (id, project_id, client_id, subject, jti, uri, state, attempts, created_at, delivered_at)
     select (lpad(to_hex((extract(epoch from t) * 1000)::bigint), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid, $1, $2,
       u.id, 'x', 'https://app.example.com/logout', case when n % 5000 = 0 then 'failed' else 'delivered' end,
       '[{"at":"2026-01-01T00:00:00Z","status":200,"durationMs":9}]', t, t
     from generate_series(1, ${deliveries}) n cross join lateral (select now() - n * interval '20 seconds' as t) moment
     join (select id, row_number() over () as place from users where project_id = $1) u on u.place = n`,
    [projectId, clientId],
  );
  // As after the job for daily counts.
  await run(
    `insert into activity_progress (id, counted_before) values ('days', (now() at time zone 'UTC')::date)
     on conflict (id) do update set counted_before = excluded.counted_before`,
  );
  await run('vacuum analyze');
  const first = async (table: string) =>
    (await run(`select id from ${table} where project_id = $1 order by id limit 1`, [projectId])).rows[0]?.id as string;
  return { projectId, clientId, userId: await first('users'), groupId: await first('groups') };
}

if (import.meta.main) await consoleLists((line) => console.log(line));
