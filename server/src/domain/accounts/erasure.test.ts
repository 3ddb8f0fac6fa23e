import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { genericPlan, multiply } from '../../../test/plan.ts';
import { system } from '../kernel/actor.ts';
import { erasure } from './erasure.ts';

let app: TestApp;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());

it('an erasure reads no whole index of the audit log', async () => {
  const { audit, db, newUsers } = app.services;
  const project = await app.make.project();
  const id = await newUsers.add(project.id, { email: 'ada@example.com' }, { invite: false }, system);
  await multiply(db, 'audit_log', { id: 'gen_random_uuid()', subject_id: 'gen_random_uuid()' });
  const erased = { projectId: project.id, ids: [id], users: [] };
  // As `heldForErasure` sets it.
  const settings = 'set local enable_seqscan = off';
  const plan = await genericPlan(db, erasure(erased, app.clock.now(), audit.insertions([])), settings);
  const scans = plan.flatMap((line, at) =>
    /(Scan using|Index Scan on) audit_|Seq Scan on audit_/.test(line) ? [[line, plan[at + 1]?.trim()]] : [],
  );
  expect(scans.length).toBeGreaterThan(10);
  expect(scans.filter(([, next]) => !next?.startsWith('Index Cond: '))).toEqual([]);
});
