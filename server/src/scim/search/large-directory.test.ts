import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ScimApp, type ScimProject, startScimApp } from '../../../test/scim-app.ts';

let app: ScimApp;
let project: ScimProject;
beforeAll(async () => {
  app = await startScimApp();
  project = await app.project();
  const em = app.services.db.reader();
  await em.execute(
    `insert into users (id, project_id, user_name, user_name_key, external_id, attributes, created_at, updated_at)
     select gen_random_uuid(), ?, 'user-' || n, 'user-' || n, 'e-' || n,
       '{"emails": [{"value": "x@example.com", "type": "work"}]}', now(), now() from generate_series(1, 1000) n`,
    [project.id],
  );
  await em.execute(
    `insert into groups (id, project_id, display_name, created_at, updated_at)
     select gen_random_uuid(), ?, 'Group ' || n, now(), now() from generate_series(1, 6) n`,
    [project.id],
  );
  await em.execute(
    `insert into group_members (project_id, group_id, user_id, created_at)
     select g.project_id, g.id, u.id, now() from groups g join users u on u.project_id = g.project_id where g.project_id = ?`,
    [project.id],
  );
  await em.execute('analyze users');
});
afterAll(() => app.close());

/** Reads the email addresses of every user thirty times: as costly here as a simple filter is in a large directory. */
const costly = Array.from({ length: 30 }, (_, n) => `emails[type eq "home" and value co "${n}."]`).join(' or ');

const ask = (filter: string, more = '') =>
  project
    .request('GET', `/Users?filter=${encodeURIComponent(filter)}${more}`)
    .then(({ status, body }) => [status, body.totalResults ?? body.scimType]);

const askGroups = (query: string) =>
  project
    .request('GET', `/Groups?${query}`)
    .then(({ status, body }) => [status, body.Resources?.length ?? body.scimType]);

it('does not refuse filters of a small directory', async () => {
  expect(await ask(costly)).toEqual([200, 0]);
  expect(await askGroups('filter=members+pr')).toEqual([200, 6]);
});

it('refuses costly filters of a large directory, on every path, and no others', async () => {
  // As if it had 200,000 more users.
  await app.services.db
    .reader()
    .execute(`insert into user_counts (project_id, slot, users) values (?, 99, 200000)`, [project.id]);
  const refused = [400, 'tooMany'];
  expect(await ask(costly)).toEqual(refused);
  expect(await ask(costly, '&cursor=')).toEqual(refused);
  expect(await ask(`not (${costly})`, '&count=0')).toEqual(refused);
  const body = { filter: costly };
  for (const path of ['/Users/.search', '/.search']) {
    expect((await project.request('POST', path, body)).body).toMatchObject({ status: '400', scimType: 'tooMany' });
    const byCursor = await project.request('POST', path, { ...body, cursor: '' });
    expect(byCursor.body).toMatchObject({ status: '400', scimType: 'tooMany' });
  }
  expect(await ask(`userName eq "user-7" and (${costly})`)).toEqual([200, 0]);
  expect(await ask('userName eq "user-7"')).toEqual([200, 1]);
  expect(await ask('externalId eq "e-7" and active eq true')).toEqual([200, 1]);
  expect((await project.request('GET', '/Users?count=1')).body.totalResults).toBe(201_000);
});

it('does not refuse a search in a large directory that finds groups with many members', async () => {
  expect(await askGroups('filter=members+pr')).toEqual([200, 6]);
  expect(await askGroups('filter=displayName+sw+%22Group%22&cursor=')).toEqual([200, 6]);
  const root = await project.request('POST', '/.search', { filter: 'displayName sw "Group"' });
  expect(root.body.Resources).toHaveLength(6);
  expect(await askGroups('filter=members+pr&count=5')).toEqual([200, 5]);
  expect(await askGroups('filter=members+pr&excludedAttributes=members')).toEqual([200, 6]);
  expect(await askGroups('filter=displayName+eq+%22Group+1%22')).toEqual([200, 1]);
  expect(await askGroups('count=10')).toEqual([200, 6]);
});

it('refuses an order without an index in a large directory, on every path, and no others', async () => {
  // As if the table had many more rows; its next analysis would count them again.
  const em = app.services.db.reader();
  await em.execute('alter table users set (autovacuum_enabled = false)');
  await em.execute(
    `select pg_restore_relation_stats('schemaname', 'public', 'relname', 'users', 'reltuples', 10000000::real)`,
  );
  const refused = [400, 'tooMany', expect.stringContaining('sortBy')];
  const sorted = (query: string) =>
    project
      .request('GET', `/Users?count=2&${query}`)
      .then(({ status, body }) => [status, body.scimType ?? body.Resources.length, body.detail]);
  for (const query of ['sortBy=meta.lastModified', 'sortBy=title&sortOrder=descending&cursor=']) {
    expect(await sorted(query)).toEqual(refused);
  }
  const body = { sortBy: 'meta.lastModified' };
  for (const path of ['/Users/.search', '/.search']) {
    expect((await project.request('POST', path, body)).body).toMatchObject({ status: '400', scimType: 'tooMany' });
  }
  expect(await sorted('sortBy=meta.lastModified&filter=userName+eq+%22user-7%22')).toEqual([200, 1, undefined]);
  for (const sortBy of ['userName', 'id']) {
    expect(await sorted(`sortBy=${sortBy}`)).toEqual([200, 2, undefined]);
    expect(await sorted(`sortBy=${sortBy}&sortOrder=descending&cursor=`)).toEqual([200, 2, undefined]);
  }
});

it('reports no unexpected error', () => expect(app.bugs).toEqual([]));
