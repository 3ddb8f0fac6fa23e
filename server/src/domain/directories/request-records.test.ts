import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { indexConditions, multiply } from '../../../test/plan.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import { erasedAmong } from './user-tables.ts';

let app: TestApp;
beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());

it('looks up the marks of a record by an index, however many users were erased', async () => {
  const { db } = app.services;
  const project = await app.make.project();
  await execute(
    db.alone,
    sql`insert into scim_erasures (project_id, id, at, marks)
      values (${project.id}, gen_random_uuid(), now(), array['first', 'second'])`,
  );
  await multiply(db, 'scim_erasures', {
    id: 'gen_random_uuid()',
    marks: `to_jsonb(array['mark ' || n, 'other ' || n])`,
  });
  const statement = erasedAmong(['second', 'mark 1500', 'mark', 'nobody']);
  expect((await query(db.alone, statement)).map(({ mark }) => mark).sort()).toEqual(['mark 1500', 'second']);
  expect(await indexConditions(db, statement)).toEqual({
    scim_erasures_marks_index: ['(marks @> ARRAY[mark.mark])'],
  });
});
