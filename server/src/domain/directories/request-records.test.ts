import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { untilLockWaits } from '../../../test/lock-waits.ts';
import { indexConditions, multiply } from '../../../test/plan.ts';
import { rows } from '../../../test/rows.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import type { RequestEntry } from './request-records.ts';
import { erasedAmong } from './user-tables.ts';

let app: TestApp;
beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());

it('looks up the marks of a record by an index, for any number of erased users', async () => {
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

describe('writing', () => {
  const errors: unknown[] = [];
  let isOver = false;
  afterEach(() => {
    isOver = true;
    expect(errors.splice(0)).toEqual([]);
  });

  function add(projectId: string, count: number): void {
    const entry: RequestEntry = {
      projectId,
      organizationId: null,
      schemaVersion: 0,
      at: app.clock.now(),
      tokenId: randomUUID(),
      tokenName: 'token',
      method: 'GET',
      path: '/Users',
      resourceId: null,
      status: 200,
      scimType: null,
      detail: null,
      durationMs: 1,
      userAgent: null,
      requestBody: null,
      responseBody: null,
      ignored: [],
      concerns: [],
      address: null,
    };
    for (let at = 0; at < count; at += 1) app.services.requestRecords.add(entry, (error) => errors.push(error));
  }

  async function written(projectId: string): Promise<number> {
    await app.services.requestRecords.settled();
    const sql = 'select from scim_request_records where project_id = ?';
    return (await rows(app.services.db, sql, [projectId])).length;
  }

  /** Resolves when the writer waits for a lock, or after the test. */
  async function isWaiting(): Promise<void> {
    isOver = false;
    await untilLockWaits(app.services.db, 1, () => isOver);
  }

  it('deletes only old records of its project, without waiting for one that another process has locked', async () => {
    const [{ id }, other] = [await app.make.project(), await app.make.project()];
    const addToOther = async () => {
      add(other.id, 1);
      await written(other.id);
      app.clock.turn(1);
    };
    await addToOther();
    add(id, 200);
    expect(await written(id)).toBe(200);
    await app.services.db.transaction(async (em) => {
      await em.execute('select from scim_request_records where project_id = ? order by id limit 1 for update', [id]);
      add(id, 2);
      const settled = app.services.requestRecords.settled().then(() => 'settled');
      expect(await Promise.race([settled, isWaiting().then(() => 'waiting')])).toBe('settled');
    });
    expect(await written(id)).toBe(201);
    app.clock.turn(1);
    await addToOther();
    add(id, 1);
    expect([await written(id), await written(other.id)]).toEqual([200, 2]);
  });

  it('keeps the records of other projects when one is deleted in the meantime', async () => {
    const [deleted, other] = [await app.make.project(), await app.make.project()];
    let settled: Promise<void> | undefined;
    await app.services.db.transaction(async (em) => {
      await em.execute('delete from projects where id = ?', [deleted.id]);
      for (const { id } of [deleted, other]) add(id, 1);
      settled = app.services.requestRecords.settled();
      await isWaiting();
    });
    await settled;
    expect(await written(deleted.id)).toBe(0);
    expect(await written(other.id)).toBe(1);
  });
});
