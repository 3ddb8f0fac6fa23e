import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { deliverDue } from '../../../test/relayed.ts';
import { system } from '../../domain/kernel/actor.ts';
import { execute, query, sql } from '../../domain/kernel/sql.ts';
import { deliveriesStatement } from '../../domain/logout/deliveries.ts';
import type { Project } from '../../domain/projects/project.entity.ts';

let harness: AdminHarness;
let project: Project;
let client: { id: string };
let user: { id: string };

beforeAll(async () => {
  harness = await openAdminHarness();
  const { projects, clients, users, db } = harness.services;
  project = await projects.create({ name: 'Acme' }, system);
  const backchannelLogoutUri = 'https://moved.example.com/logout';
  client = (await clients.create({ projectId: project.id, name: 'Portal', backchannelLogoutUri }, system)).client;
  user = await db.transaction((em) => users.signUp(em, project.id, 'ada@example.com', system));
});
afterAll(() => harness.close());

const fields = `id state uri nextAttemptAt client { name } user { userName } userId sid
  attempts { at status error durationMs }`;
const list = async (filter: object) =>
  (
    await harness.call(
      `query ($id: ID!, $filter: LogoutDeliveryFilter) {
        logoutDeliveries(projectId: $id, filter: $filter) { edges { node { ${fields} } } } }`,
      { id: project.id, filter },
    )
  ).data.logoutDeliveries.edges.map((edge: any) => edge.node);
const retry = (id: string) =>
  harness.call(`mutation ($id: ID!) { retryLogoutDelivery(id: $id) { ${fields} } }`, { id });
const retried = async () =>
  (
    await harness.call(
      `query ($id: ID!) { auditEvents(projectId: $id, filter: { types: ["logout-delivery.retried"] }) {
        edges { node { detail actor { kind } } } } }`,
      { id: project.id },
    )
  ).data.auditEvents.edges.map((edge: any) => edge.node);

describe('logout deliveries', () => {
  it('are listed with their attempts and responses, by application, state and user', async () => {
    const id = await harness.failedLogout(project, client, user);
    const [shown] = await list({});
    expect(shown).toEqual({
      id,
      state: 'FAILED',
      uri: 'https://app.example.com/logout',
      nextAttemptAt: null,
      client: { name: 'Portal' },
      user: { userName: 'ada@example.com' },
      userId: user.id,
      sid: null,
      attempts: [{ at: '2026-03-01T12:00:00.000Z', status: 400, error: null, durationMs: 12 }],
    });
    const found = async (filter: object) => (await list(filter)).length;
    expect(await found({ clientId: client.id, state: 'FAILED', userId: user.id })).toBe(1);
    expect(await found({ clientId: client.id })).toBe(1);
    expect(await found({ state: 'DELIVERED' })).toBe(0);
    expect(await found({ userId: client.id })).toBe(0);
    const none = await harness.call(
      'query ($id: ID!) { logoutDeliveries(projectId: $id, filter: { clientId: "x" }) { edges { cursor } } }',
      { id: project.id },
    );
    expect(none.code).toBe('invalid');
  });

  it('are counted by application, failing ones first', async () => {
    const { data } = await harness.call(
      `query ($id: ID!) { logoutReceivers(projectId: $id) {
        delivered pending failed lastDeliveredAt client { name } } }`,
      { id: project.id },
    );
    expect(data.logoutReceivers).toEqual([
      { delivered: 0, pending: 0, failed: 1, lastDeliveredAt: null, client: { name: 'Portal' } },
    ]);
  });

  it('are retried at the current URI of the application, with one event for repeated requests', async () => {
    const id = await harness.failedLogout(project, client, user);
    const answers = await Promise.all(Array.from({ length: 20 }, () => retry(id)));
    expect(answers.map(({ code }) => code)).toEqual(Array.from({ length: 20 }, () => undefined));
    expect(answers[0]?.data.retryLogoutDelivery).toMatchObject({
      state: 'PENDING',
      uri: 'https://moved.example.com/logout',
      nextAttemptAt: harness.clock.now().toISOString(),
    });
    expect(await retried()).toEqual([
      {
        actor: { kind: 'bootstrap-token' },
        detail: {
          userId: user.id,
          attempts: 1,
          before: { uri: 'https://app.example.com/logout' },
          after: { uri: 'https://moved.example.com/logout' },
        },
      },
    ]);
    await deliverDue(harness.services.logout.relay);
    expect((await list({ state: 'DELIVERED' })).map((one: any) => [one.id, one.attempts.length])).toEqual([[id, 2]]);
  });

  it('are not retried after delivery, nor if unknown', async () => {
    const [{ id }] = await list({ state: 'DELIVERED' });
    expect((await retry(id)).code).toBe('invalid');
    expect((await retry('019a0000-0000-7000-8000-000000000000')).code).toBe('not-found');
    expect(await retried()).toHaveLength(1);
  });

  it('are deleted 30 days after they finished', async () => {
    const waiting = await harness.failedLogout(project, client, user);
    await retry(waiting);
    harness.clock.turn(31 * 24 * 3600);
    await harness.services.retention.sweep();
    expect((await list({})).map((one: any) => one.id)).toEqual([waiting]);
  });

  it('are read from an index for every filter, among a hundred thousand', async () => {
    const em = harness.services.db.reader();
    await execute(
      em,
      sql`insert into logout_deliveries (id, project_id, client_id, subject, jti, uri, state, attempts, created_at)
        select gen_random_uuid(), ${project.id}, ${client.id}, gen_random_uuid(), 'x', 'https://a.example',
          'delivered', '[]',
          ${harness.clock.now()} from generate_series(1, 100000)`,
    );
    await execute(em, sql`analyze logout_deliveries`);
    const filters = [
      {},
      { clientId: client.id },
      { state: 'failed' as const },
      { clientId: client.id, state: 'pending' as const },
      { userId: user.id },
    ];
    for (const filter of filters) {
      const statement = deliveriesStatement(project.id, filter, { first: 51, after: null });
      const plan = await query(em, sql<{ 'QUERY PLAN': string }>`explain (analyze, costs off) ${statement}`);
      const lines = plan.map((line) => line['QUERY PLAN']);
      expect(lines.join('\n'), JSON.stringify(filter)).not.toMatch(/Seq Scan|Sort Method: external|Rows Removed/);
      expect(lines.join('\n')).toMatch(/Index (Only )?Scan/);
    }
  });
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));
