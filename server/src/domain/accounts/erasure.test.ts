import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { multiply } from '../../../test/plan.ts';
import { system } from '../kernel/actor.ts';
import { erasure } from './erasure.ts';

let app: TestApp;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());

it('reads no whole index of the audit log', async () => {
  const { audit, db, newUsers } = app.services;
  const project = await app.make.project();
  const id = await newUsers.add(project.id, { email: 'ada@example.com' }, { invite: false }, system);
  await multiply(db, 'audit_log', { id: 'gen_random_uuid()', subject_id: 'gen_random_uuid()' });
  const erased = { projectId: project.id, ids: [id], users: [] };
  const { sql: text, parameters } = erasure(erased, app.clock.now(), audit.insertions([])).compile(
    db.alone.getKysely(),
  );
  const plan = await db.transaction(async (em) => {
    await em.execute('analyze');
    // As `heldForErasure` sets them.
    await em.execute('set local plan_cache_mode = force_generic_plan; set local enable_seqscan = off');
    await em.execute(`prepare erasing as ${text}`);
    const nulls = parameters.map(() => 'null').join(', ');
    const lines = await em.execute<{ 'QUERY PLAN': string }[]>(`explain execute erasing(${nulls})`);
    await em.execute('deallocate erasing');
    return lines.map((line) => line['QUERY PLAN'].trim());
  });
  const scans = plan.flatMap((line, at) =>
    /(Scan using|Index Scan on) audit_|Seq Scan on audit_/.test(line) ? [[line, plan[at + 1]]] : [],
  );
  expect(scans.length).toBeGreaterThan(10);
  expect(scans.filter(([, next]) => !next?.startsWith('Index Cond: '))).toEqual([]);
});
