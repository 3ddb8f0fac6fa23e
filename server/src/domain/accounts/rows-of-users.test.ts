/**
 * Rows of other users: an export does not contain them, and neither an erasure, a deactivation nor the end of open work
 * changes them. The other users are one of the same project, and one of another project with the same id.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { administer } from '../../../test/global-setup.ts';
import { endOpenWork } from '../ceremonies/open-work.ts';
import { execute, query } from '../kernel/sql.ts';
import { userTables } from '../nouns.ts';
import { User } from '../users/user.entity.ts';

type Row = Record<string, unknown>;
type Owner = Pick<User, 'email' | 'id'> & { project: { id: string } };
interface Column {
  table: string;
  name: string;
  type: string;
}

/** Tables whose rows no single user has, or whose sections join other tables. */
const omitted = [
  'users',
  'user_emails',
  'custom_values',
  'group_members',
  'role_assignments',
  'scim_request_records',
  'audit_log',
];

/** Columns that need a certain value: of several rows, each. */
const needed: Record<string, Row[]> = {
  credentials: [{ kind: 'device-key' }, { kind: 'passkey' }],
  one_time_codes: [{ used_at: null }],
  enrolments: [{ verified_at: null }],
  recovery_grants: [{ used_at: null, ended_at: null }],
  factor_changes: [{ finished_at: null }],
  authorization_codes: [{ revoked_at: null }],
  refresh_grants: [{ revoked_at: null, offline: true }],
  ceremonies: [{ finished_at: null, expires_at: new Date('2100-01-01') }],
};

/** Tables with a row for each user. */
const filled = userTables
  .flatMap(({ tables }) => tables)
  .filter((table) => !omitted.includes(table))
  .flatMap((table) => (needed[table] ?? [{}]).map((values): [string, Row] => [table, values]));

let app: TestApp;
let columns: Column[];
let mine: User;
let others: Owner[];

beforeAll(async () => {
  app = await buildTestApp();
  const [project, foreign] = [await app.make.project(), await app.make.project()];
  mine = await app.make.user(project, { phone: '+4915112345678' });
  const namesake = { id: mine.id, email: 'namesake@example.com', project: foreign };
  others = [await app.make.user(project, { phone: '+4915112345679' }), namesake];
  await administer(app.databaseUrl, async (client) => {
    const found = await client.query<Column>(
      `select table_name as "table", column_name as name, data_type as type from information_schema.columns
       where table_schema = 'public' and is_generated = 'NEVER' and is_identity = 'NO'`,
    );
    columns = found.rows;
    // Rows have no related rows: only the user matters.
    await client.query(`do $$ declare c record; begin
      for c in select conrelid::regclass as "table", conname from pg_constraint
        where contype in ('c', 'f') and conparentid = 0 and connamespace = 'public'::regnamespace
      loop execute format('alter table %s drop constraint %I', c."table", c.conname); end loop; end $$`);
    for (const [table] of filled) await client.query(`alter table ${table} disable trigger user`);
    for (const user of [mine, ...others]) {
      for (const [table, values] of filled) {
        // An API token names its admin only by id.
        if (table === 'admin_tokens' && user === others[1]) continue;
        const row: Row = { ...rowOf(table, user), ...values };
        const names = Object.keys(row);
        await client.query(
          `insert into ${table} (${names.map((name) => `"${name}"`)}) values (${names.map((_, at) => `$${at + 1}`)})`,
          Object.values(row),
        );
      }
    }
  });
});
afterAll(() => app.close());

const ofUser = /^(user_id|account_id|subject|created_by_id|hinted_user_id)$/;
const ofProject = /^(user_)?project_id$/;
const ofMailbox = /^(recipient|address|address_key|email_key|sent_to)$/;

function rowOf(table: string, user: Owner): Row {
  const own = columns.filter((column) => column.table === table);
  return Object.fromEntries(own.map(({ name, type }) => [name, valueOf(name, type, user)]));
}

function valueOf(name: string, type: string, user: Owner): unknown {
  if (ofUser.test(name)) return user.id;
  if (ofProject.test(name)) return user.project.id;
  if (ofMailbox.test(name)) return user.email;
  if (type === 'ARRAY') return [];
  if (type === 'jsonb') return '[]';
  if (type === 'boolean') return false;
  if (type.startsWith('timestamp')) return new Date('2026-01-01');
  return /int|numeric/.test(type) ? 1 : randomUUID();
}

/** All filled rows that belong to the other users. */
async function rowsOfOthers(): Promise<string[]> {
  return administer(app.databaseUrl, async (client) => {
    const found: string[] = [];
    for (const table of new Set(filled.map(([name]) => name))) {
      const { rows } = await client.query<{ row: Row }>(`select to_jsonb(t) as row from ${table} t`);
      for (const { row } of rows) {
        const values = Object.values(row);
        const isMine = (values.includes(mine.id) || values.includes(mine.email)) && values.includes(mine.project.id);
        if (!isMine) found.push(`${table} ${JSON.stringify(row)}`);
      }
    }
    return found.sort();
  });
}

describe('an export', () => {
  const sections = userTables.flatMap(({ exportRows }) => Object.entries(exportRows));
  const joined = ['groups', 'roles', 'organizations', 'directoryRequests', 'guestRecords', 'eventsAbout', 'eventsBy'];

  it.each(sections.filter(([name]) => !joined.includes(name)))(
    'has the rows of its user only (%s)',
    async (_name, of) => {
      const all = await query(app.services.db.reader(), of(mine));
      expect(all).toHaveLength(1);
    },
  );
});

describe('the rows of other users stay', () => {
  it.each<[string, (user: User) => Promise<unknown>]>([
    ['when open work ends', (user) => app.services.db.transaction((em) => endOpenWork(em, app.clock.now(), user))],
    [
      'when a user is deactivated',
      (user) =>
        app.services.db.transaction(async (em) => {
          for (const { deactivate } of userTables) await deactivate?.(em, user, app.clock.now(), false);
        }),
    ],
    [
      'when an account passes to another person',
      (user) =>
        app.services.db.transaction(async (em) => {
          for (const { handOver } of userTables) await handOver?.(em, user, app.clock.now());
        }),
    ],
    [
      'when a user is erased',
      (user) =>
        app.services.db.transaction(async (em) => {
          const erased = { projectId: user.project.id, ids: [user.id], users: [user] };
          const statements = userTables.flatMap(({ erase }) => erase?.(erased, app.clock.now()) ?? []);
          for (const statement of statements) await execute(em, statement);
        }),
    ],
  ])('%s', async (_when, act) => {
    const before = await rowsOfOthers();
    expect(before.length).toBe(filled.length * others.length - 1);
    const user = await app.services.db.reader().findOneOrFail(User, { id: mine.id, project: mine.project.id });
    await act(user);
    expect(await rowsOfOthers()).toEqual(before);
  });
});
