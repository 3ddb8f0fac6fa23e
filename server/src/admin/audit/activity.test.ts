import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { activityStatement } from '../../domain/audit/activity.ts';
import type { EventType } from '../../domain/audit/event-types.ts';
import { system } from '../../domain/kernel/actor.ts';
import { execute, query, sql } from '../../domain/kernel/sql.ts';
import type { Project } from '../../domain/projects/project.entity.ts';

const day = 24 * 3600;
let harness: AdminHarness;
let projectId: string;

beforeAll(async () => {
  harness = await openAdminHarness();
  projectId = (await harness.services.projects.create({ name: 'Acme' }, system)).id;
});
afterAll(() => harness.close());

async function record(type: EventType, subjectId: string, detail?: Record<string, unknown>, project = projectId) {
  const { audit, db } = harness.services;
  const subject = { kind: 'user', id: subjectId };
  await db.transaction(async (em) => {
    audit.record(em, { type, actor: system, projectId: project, subject, ...(detail ? { detail } : {}) });
  });
}

async function sendScim(statuses: readonly number[]) {
  for (const status of statuses) {
    const request = { method: 'GET', path: '/Users', tokenId: projectId, tokenName: 'Okta', durationMs: 1 };
    const absent = { resourceId: null, scimType: null, detail: null, userAgent: null };
    const bodies = {
      requestBody: null,
      responseBody: null,
      ignored: [],
      concerns: [],
      address: null,
      schemaVersion: 0,
    };
    const at = harness.clock.now();
    harness.services.requestRecords.add(
      { ...request, ...absent, ...bodies, status, at, projectId, organizationId: null },
      (error) => {
        throw error;
      },
    );
  }
  await harness.services.requestRecords.settled();
}

const nothing = {
  ...{ signIns: 0, signInsOnKnownDevices: 0, signInsWithPasskeys: 0, activeUsers: 0 },
  ...{ codesSent: 0, codesVerified: 0, codeSeconds: 0 },
  ...{ refused: 0, logoutsDelivered: 0, logoutsFailed: 0, scimRequests: 0, scimRefused: 0, scimFailed: 0 },
};

const ask = (days: number) =>
  harness.call(
    `query ($id: ID!, $days: Int!) { activity(projectId: $id, days: $days) {
      day signIns signInsOnKnownDevices signInsWithPasskeys activeUsers codesSent codesVerified codeSeconds refused
      logoutsDelivered logoutsFailed scimRequests scimRefused scimFailed } }`,
    { id: projectId, days },
  );

describe('Query.activity', () => {
  it('counts by day: sign-ins, known devices, passkeys, different users, codes, refusals', async () => {
    expect((await ask(28)).data.activity).toEqual([]);
    await record('user.signed_in', 'ada', { amr: ['swk', 'otp'] });
    await record('user.signed_in', 'ada', { amr: ['swk'] });
    await record('user.signed_in', 'grace', { amr: ['swk', 'otp', 'mfa'] });
    await record('user.signed_in', 'grace', { amr: ['swk', 'user', 'pop', 'mfa'], passkeyId: 'hers' });
    await record('otp.sent', 'ada');
    await record('otp.verified', 'ada', { afterSeconds: 24 });
    await record('otp.rejected', 'ada');
    const project = await harness.services.projects.find(harness.services.db.reader(), projectId);
    const { client } = await harness.services.clients.create({ projectId, name: 'Portal' }, system);
    await harness.failedLogout(project as Project, client, { id: client.id });
    await sendScim([200, 404, 500]);
    await record('user.updated', 'ada');
    const other = (await harness.services.projects.create({ name: 'Other' }, system)).id;
    await record('user.signed_in', 'stranger', { amr: ['swk'] }, other);
    harness.clock.turn(day);
    await record('mfa.rejected', 'grace');
    await record('device.proof_rejected', 'grace');
    await record('passkey.rejected', 'grace');
    expect((await ask(28)).data.activity).toEqual([
      {
        ...{ ...nothing, day: '2026-03-01', signIns: 4, signInsOnKnownDevices: 1, activeUsers: 2, refused: 1 },
        ...{ signInsWithPasskeys: 1, codesSent: 1, codesVerified: 1, codeSeconds: 24, logoutsFailed: 1 },
        ...{ scimRequests: 3, scimRefused: 1, scimFailed: 1 },
      },
      { ...nothing, day: '2026-03-02', refused: 3 },
    ]);
  });

  it('covers the requested number of whole days', async () => {
    const days = async (count: number) => (await ask(count)).data.activity.map((one: any) => one.day);
    expect(await days(1)).toEqual(['2026-03-02']);
    expect(await days(2)).toEqual(['2026-03-01', '2026-03-02']);
    expect((await ask(0)).code).toBe('invalid');
    expect((await ask(63)).code).toBe('invalid');
  });

  it('returns the same after past days are aggregated, once or repeatedly', async () => {
    const before = (await ask(28)).data.activity;
    await harness.services.activity.count();
    expect(await counted()).toEqual(['2026-03-01']);
    harness.clock.turn(day);
    await Promise.all([harness.services.activity.count(), harness.services.activity.count()]);
    await harness.services.activity.count();
    expect(await counted()).toEqual(['2026-03-01', '2026-03-02']);
    expect((await ask(28)).data.activity).toEqual(before);
    // Counted days are not counted from the events again.
    await execute(harness.services.db.reader(), sql`delete from audit_log where type = 'user.signed_in'`);
    expect((await ask(28)).data.activity[0]).toMatchObject({ day: '2026-03-01', signIns: 4, activeUsers: 2 });
    await record('user.signed_in', 'ada', { amr: ['swk'] });
    expect((await ask(28)).data.activity.at(-1)).toMatchObject({ day: '2026-03-03', signIns: 1 });
  });

  it("reads only today's of a hundred thousand events, by an index", async () => {
    const em = harness.services.db.reader();
    const now = harness.clock.now();
    await execute(
      em,
      sql`insert into audit_log (id, project_id, at, type, result, actor_kind, subject_id, detail)
        select (lpad(to_hex((extract(epoch
        from t) * 1000)::bigint), 12, '0') || '7000' || '8' || lpad(to_hex(n), 15, '0'))::uuid,
          ${projectId}, t, 'user.signed_in', 'success', 'user', 'u' || n % 5000, '{"amr":["swk"]}'
        from generate_series(1, 100000) as n,
          lateral (select ${now}::timestamptz - n * interval '25 seconds' as t) as moment`,
    );
    await execute(em, sql`analyze audit_log`);
    const today = new Date(now);
    today.setUTCHours(0, 0, 0, 0);
    const statement = activityStatement(projectId, new Date(now.getTime() - 28 * day * 1000), today);
    const plan = await query(em, sql<{ 'QUERY PLAN': string }>`explain (analyze, costs off) ${statement}`);
    const lines = plan.map((line) => line['QUERY PLAN']).join('\n');
    // The partition of these events.
    expect(lines).toMatch(/Index (Only )?Scan using audit_events_|Bitmap Index Scan on audit_events_/);
    expect(lines).not.toMatch(/Seq Scan on audit_events/);
    const read = [...lines.matchAll(/audit_events.*?rows=(\d+)/g)].map(([, rows]) => Number(rows));
    expect(Math.max(...read)).toBeLessThan(5000);
  });
});

const counted = async () => {
  const found = await query(
    harness.services.db.reader(),
    sql<{ day: string }>`select distinct to_char(day, 'YYYY-MM-DD') as day from activity_days order by 1`,
  );
  return found.map((row) => row.day);
};
