/** Statements on tables that have just grown, as PostgreSQL plans them without new statistics (decisions/0310). */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ScimApp, type ScimProject, startScimApp } from '../../test/scim-app.ts';
import { listUsers } from '../domain/users/user-list.ts';

let app: ScimApp;
let project: ScimProject;
let group: string;
beforeAll(async () => {
  app = await startScimApp();
  project = await app.project();
  const em = app.services.db.reader();
  for (const table of ['users', 'groups', 'group_members', 'group_nestings']) {
    await em.execute(`alter table ${table} set (autovacuum_enabled = false)`);
  }
  await em.execute(
    `insert into users (id, project_id, user_name, user_name_key, display_name, created_at, updated_at)
     select gen_random_uuid(), ?, 'user-' || n, 'user-' || n, 'User ' || n, now(), now() from generate_series(1, 500) n`,
    [project.id],
  );
  await em.execute(
    `insert into groups (id, project_id, display_name, created_at, updated_at)
     select gen_random_uuid(), ?, 'Group ' || n, now(), now() from generate_series(1, 5) n`,
    [project.id],
  );
  await em.execute(
    `insert into group_members (project_id, group_id, user_id, created_at)
     select g.project_id, g.id, u.id, now() from groups g join users u on u.project_id = g.project_id where g.project_id = ?`,
    [project.id],
  );
  group = (await project.request('GET', '/Groups?count=1&attributes=id')).body.Resources[0].id;
});
afterAll(async () => {
  expect(app.bugs).toEqual([]);
  await app.close();
});

interface Asked {
  text: string;
  values: unknown[];
}

/** The statements on memberships that `work` sends, with their values. */
async function memberStatements(work: () => Promise<unknown>): Promise<Asked[]> {
  const seen: Asked[] = [];
  const client = pg.Client.prototype as { query(...args: unknown[]): unknown };
  const { query } = client;
  client.query = function (...args) {
    const [asked] = args as [string | Asked];
    if (typeof asked === 'object' && /group_members/.test(asked.text))
      seen.push({ text: asked.text, values: asked.values });
    return query.apply(this, args);
  };
  try {
    await work();
  } finally {
    client.query = query;
  }
  return seen;
}

/** As a statement with literals: a prepared one would need the types of its parameters. */
const explained = ({ text, values }: Asked) => {
  const literal = (value: unknown): string => {
    if (Array.isArray(value)) return pg.escapeLiteral(`{${value.map(String).join(',')}}`);
    if (value === null || typeof value === 'number') return String(value);
    return pg.escapeLiteral(String(value));
  };
  return `explain ${text.replace(/\$(\d+)/g, (_, at) => literal(values[Number(at) - 1]))}`;
};

it.each([
  ['a list of groups', () => project.request('GET', '/Groups')],
  ['a group', () => project.request('GET', `/Groups/${group}`)],
  ['a list of users with their groups', () => project.request('GET', '/Users')],
  [
    'a PATCH that adds members',
    async () => {
      const { body } = await project.request('GET', '/Users?attributes=id');
      const value = body.Resources.map(({ id }: { id: string }) => ({ value: id }));
      return project.request('PATCH', `/Groups/${group}`, { Operations: [{ op: 'add', path: 'members', value }] });
    },
  ],
  [
    'a PUT',
    async () => {
      const { body } = await project.request('GET', `/Groups/${group}`);
      return project.request('PUT', `/Groups/${group}`, { ...body, members: body.members.slice(1) });
    },
  ],
])('%s never compares each membership with each user or group', (_, work) =>
  expectNone(work, /Join Filter|Materialize/),
);

// Only the filter: the page of results, which is small, may be joined by any plan.
it.each([
  ['the users of a group', () => project.request('GET', `/Users?filter=groups.value+eq+%22${group}%22`)],
  [
    'the users of a group, with brackets',
    () => project.request('GET', `/Users?filter=groups[value+eq+%22${group}%22]+and+active+eq+true`),
  ],
  ['users outside of a group', () => project.request('GET', `/Users?filter=not+(groups.value+eq+%22${group}%22)`)],
  [
    'users of a group, or others',
    () => project.request('GET', `/Users?filter=groups.value+eq+%22${group}%22+or+userName+sw+%22x%22`),
  ],
  [
    'the users of a group for an admin',
    () => listUsers(app.services.db.reader(), project.id, { groupId: group }, { first: 25, after: null }),
  ],
])('%s never compares each user with each member', (_, work) => expectNone(work, /Join Filter:.*user_id/));

/** No statement on memberships has a plan with such a line. */
async function expectNone(work: () => Promise<unknown>, forbidden: RegExp): Promise<void> {
  const statements = await memberStatements(work);
  expect(statements.length).toBeGreaterThan(0);
  for (const statement of statements) {
    const plan = await app.services.db.reader().execute<{ 'QUERY PLAN': string }[]>(explained(statement));
    const lines = plan.map((line) => line['QUERY PLAN']);
    expect(
      lines.filter((line) => forbidden.test(line)),
      lines.join('\n'),
    ).toEqual([]);
  }
}
