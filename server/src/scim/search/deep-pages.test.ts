import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ScimApp, type ScimProject, startScimApp } from '../../../test/scim-app.ts';

let app: ScimApp;
let project: ScimProject;
beforeAll(async () => {
  app = await startScimApp();
  project = await app.project();
  await app.services.db.reader().execute(
    `insert into users (id, project_id, user_name, user_name_key, created_at, updated_at)
     select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, ?, 'user-' || n, 'user-' || n, now(), now()
     from generate_series(1, 10250) n`,
    [project.id],
  );
});
afterAll(() => app.close());

/** Total, number of the first user, and size of a page. */
const page = async (startIndex: number, more = '') => {
  const { body } = await project.request('GET', `/Users?startIndex=${startIndex}&count=100${more}`);
  return [body.totalResults, body.Resources?.[0]?.userName ?? null, body.Resources?.length ?? 0];
};
const remove = async (user: number) => {
  const id = `00000000-0000-7000-8000-${String(user).padStart(12, '0')}`;
  expect((await project.request('DELETE', `/Users/${id}`)).status).toBe(204);
};

it('a walk by startIndex misses no user when others are deleted in the meantime', async () => {
  expect(await page(9_901)).toEqual([10_250, 'user-9901', 100]);
  await remove(1);
  await remove(2);
  expect(await page(10_001)).toEqual([10_248, 'user-10001', 100]);
  await remove(3);
  expect(await page(10_101)).toEqual([10_247, 'user-10101', 100]);
  expect(await page(10_201)).toEqual([10_247, 'user-10201', 50]);
  expect(await page(10_251)).toEqual([10_247, null, 0]);
});

it('other pages are found by their number, as are filtered and ordered ones', async () => {
  expect(await page(10_002)).toEqual([10_247, 'user-10005', 100]);
  expect(await page(10_001, '&filter=active+eq+true')).toEqual([10_247, 'user-10004', 100]);
  expect(await page(10_001, '&sortBy=id')).toEqual([10_247, 'user-10004', 100]);
});

it('another project gets its own users', async () => {
  const other = await app.project();
  await app.services.db.reader().execute(
    `insert into users (id, project_id, user_name, user_name_key, created_at, updated_at)
     select gen_random_uuid(), ?, 'other-' || n, 'other-' || n, now(), now() from generate_series(1, 10001) n`,
    [other.id],
  );
  const { body } = await other.request('GET', '/Users?startIndex=10001&count=100');
  expect([body.totalResults, body.Resources.length]).toEqual([10_001, 1]);
});

it('the end of a page is cached for five minutes', async () => {
  app.clock.turn(301);
  expect(await page(10_001)).toEqual([10_247, 'user-10004', 100]);
});

it('reports no unexpected error', () => expect(app.bugs).toEqual([]));
