import { afterEach, beforeEach, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { system } from '../kernel/actor.ts';
import { AuditRetention } from './audit-retention.ts';

const day = 24 * 3600;
let app: TestApp;

beforeEach(async () => {
  app = await buildTestApp();
});
afterEach(() => app.close());

const retention = (days: number) =>
  new AuditRetention({ db: app.services.db, clock: app.clock, audit: app.services.audit, days });
const record = (type: string) =>
  app.services.db.transaction(async (em) => app.services.audit.record(em, { type, actor: system }));

async function types(): Promise<string[]> {
  const rows = await app.services.db
    .reader()
    .execute<{ type: string }[]>(
      "select type from audit_events where type like 'test.%' or type like 'audit.%' order by id",
    );
  return rows.map(({ type }) => type);
}

it('events are kept forever unless a setting limits them', async () => {
  await record('test.old');
  app.clock.turn(4000 * day);
  await retention(0).sweep();
  expect(await types()).toEqual(['test.old']);
});

it('expired events are deleted, younger ones stay, and the deletion is audited', async () => {
  // Ids contain the time, so old events are inserted with old ids.
  const old = new Date(app.clock.now().getTime() - 400 * day * 1000);
  const id = (milliseconds: number) => {
    const hex = milliseconds.toString(16).padStart(12, '0');
    return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000001`;
  };
  await app.services.db
    .reader()
    .execute(
      "insert into audit_events (id, at, type, result, actor_kind) select ?::uuid, ?, 'test.old', 'success', 'system'",
      [id(old.getTime()), old],
    );
  await record('test.young');
  await retention(365).sweep();
  expect(await types()).toEqual(['test.young', 'audit.trimmed']);
  await retention(365).sweep();
  expect(await types()).toEqual(['test.young', 'audit.trimmed']);
});
