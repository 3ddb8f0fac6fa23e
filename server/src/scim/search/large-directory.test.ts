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
  await em.execute('analyze users');
});
afterAll(() => app.close());

/** Reads the e-mail addresses of every user thirty times: as costly here as a simple filter is in a large directory. */
const costly = Array.from({ length: 30 }, (_, n) => `emails[type eq "home" and value co "${n}."]`).join(' or ');

const ask = (filter: string, more = '') =>
  project
    .request('GET', `/Users?filter=${encodeURIComponent(filter)}${more}`)
    .then(({ status, body }) => [status, body.totalResults ?? body.scimType]);

it('refuses no filter of a small directory', async () => {
  expect(await ask(costly)).toEqual([200, 0]);
});

it('refuses costly filters of a large directory, on every path, and no others', async () => {
  // As if it had 200,000 users more.
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

it('ends without a bug', () => expect(app.bugs).toEqual([]));
