import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { Places } from '../../../test/organizations.ts';
import { multiply } from '../../../test/plan.ts';
import { changed, rows } from '../../../test/rows.ts';
import { containing } from '../kernel/page.ts';
import { searchedText } from './organization.entity.ts';
import { countOrganizations, organizationsOf } from './organization-lists.ts';

let app: TestApp;
beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());

it('a search among thousands reads those that it finds, by name or slug', async () => {
  const { db } = app.services;
  const project = await app.make.project();
  await new Places(app, project).organization('one', 'Müller & Söhne');
  const copies = { id: 'gen_random_uuid()', slug: `'customer-' || n`, name: `'Customer No. ' || n` };
  await multiply(db, 'organizations', copies);
  const found = async (search: string) => {
    const { items } = await organizationsOf(db.reader(), project.id, search, { first: 10, after: null });
    expect((await countOrganizations(db.alone, project.id, search)).count).toBe(items.length);
    return items.map(({ slug }) => slug);
  };
  expect(await found('muller')).toEqual(['one']);
  expect(await found('no. 1234')).toEqual(['customer-1234']);
  expect(await found('CUSTOMER-1999')).toEqual(['customer-1999']);
  await changed(db, 'analyze organizations');
  const plan = await rows<{ 'QUERY PLAN': string }>(
    db,
    `explain select 1 from organizations o where o.project_id = ? and (${searchedText('o.')}) like ?`,
    [project.id, containing('customer-1999')],
  );
  expect(plan.map((line) => line['QUERY PLAN']).join('\n')).toContain('organizations_search_index');
});
