import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { system } from '../../domain/kernel/actor.ts';
import { execute, query, sql } from '../../domain/kernel/sql.ts';
import type { Project } from '../../domain/projects/project.entity.ts';

let harness: AdminHarness;
let project: Project;
let foreign: Project;
const url = 'https://hooks.example.com/in?token=abc';

beforeAll(async () => {
  harness = await openAdminHarness();
  project = await harness.services.projects.create({ name: 'Acme' }, system);
  foreign = await harness.services.projects.create({ name: 'Other' }, system);
});
afterAll(() => harness.close());

const shown = 'id host description types disabledReason failures failingSince previousSecretUntil pending failed';
const create = (input: object, headers?: Record<string, string>) =>
  harness.call(
    `mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { secret webhook { ${shown} } } }`,
    { input: { projectId: project.id, url, ...input } },
    headers,
  );
const made = async (input: object = {}) => (await create(input)).data.createWebhook.webhook.id as string;
const detailOf = async (type: string) =>
  (
    await query(
      harness.services.db.alone,
      sql<{
        detail: unknown;
      }>`select detail from audit_log where project_id = ${project.id} and type = ${type} order by id desc`,
    )
  )[0]?.detail;

describe('a webhook', () => {
  it('is created with a secret that is shown once, and that no row, event or later response contains', async () => {
    const { data } = await create({ types: ['user.*', 'client.created', 'user.*'], description: ' Orders ' });
    const { secret, webhook } = data.createWebhook;
    expect(secret).toMatch(/^whsec_/);
    expect(webhook).toMatchObject({
      ...{ host: 'hooks.example.com', description: 'Orders', types: ['client.created', 'user.*'] },
      ...{ disabledReason: null, failures: 0, pending: 0, failed: 0, previousSecretUntil: null },
    });
    const rotated = await harness.call(
      'mutation ($id: ID!) { rotateWebhookSecret(id: $id) { secret webhook { previousSecretUntil } } }',
      { id: webhook.id },
    );
    const { secret: second, webhook: after } = rotated.data.rotateWebhookSecret;
    expect(second).not.toBe(secret);
    expect(after.previousSecretUntil).toBe(new Date(harness.clock.now().getTime() + 24 * 3600 * 1000).toISOString());
    const listed = await harness.call('query ($id: ID!) { webhooks(projectId: $id) { id host types } }', {
      id: project.id,
    });
    const stored = await query(
      harness.services.db.alone,
      sql`select to_jsonb(w) as row from webhooks w union all select to_jsonb(e) from audit_log e`,
    );
    const text = listed.body + JSON.stringify(stored);
    for (const one of [secret, second]) {
      const hex = Buffer.from(one).toString('hex');
      expect(text.includes(one) || text.includes(one.slice(6)) || text.includes(hex)).toBe(false);
    }
  });

  it('is named by its host in events: its path may contain a token', async () => {
    const id = await made();
    await harness.call('mutation ($input: UpdateWebhookInput!) { updateWebhook(input: $input) { id } }', {
      input: { id, url: 'https://new.example.com/secret-path', types: ['user.created'] },
    });
    expect(await detailOf('webhook.updated')).toEqual({
      before: { url: 'https://hooks.example.com/…', types: [] },
      after: { url: 'https://new.example.com/…', types: ['user.created'] },
    });
    const events = await query(
      harness.services.db.alone,
      sql`select to_jsonb(e) from audit_log e where type like 'webhook.%'`,
    );
    expect(JSON.stringify(events)).not.toMatch(/secret-path|token=abc/);
  });

  it.each([
    ['url', { url: 'http://hooks.example.com/' }],
    ['url', { url: 'http://localhost/' }],
    ['url', { url: 'https://10.0.0.1/hook' }],
    ['url', { url: 'https://[64:ff9b::7f00:1]/hook' }],
    ['url', { url: 'https://user:password@hooks.example.com/' }],
    ['url', { url: 'not a url' }],
    ['url', { url: `https://hooks.example.com/${'x'.repeat(2048)}` }],
    ['types[1]', { types: ['user.created', 'user.vanished'] }],
    ['types[0]', { types: ['nothing.*'] }],
    ['types[0]', { types: ['*'] }],
    ['description', { description: 'two\nlines' }],
    ['description', { description: 'x'.repeat(101) }],
  ])('is refused with a wrong %s: %o', async (field, input) => {
    const { code, errors } = await create(input);
    expect([code, errors[0]?.extensions?.['field']]).toEqual(['invalid', field]);
  });

  it('is limited to 20 in a project', async () => {
    const { id } = await harness.services.projects.create({ name: 'Full' }, system);
    const codes = await Promise.all(Array.from({ length: 25 }, async () => (await create({ projectId: id })).code));
    expect(codes.filter((code) => code === undefined)).toHaveLength(20);
    expect(codes.filter((code) => code === 'invalid')).toHaveLength(5);
  });

  it('is replayed and deleted without affecting the deliveries of others', async () => {
    const { alone } = harness.services.db;
    const types = ['group.created'];
    const [id, other] = [await made({ types }), await made({ types })];
    for (const one of [id, other])
      await harness.call('mutation ($id: ID!) { testWebhook(id: $id) { id } }', { id: one });
    const statesOf = async (webhook: string) => {
      const states = sql<{ state: string }>`select state from webhook_deliveries where webhook_id = ${webhook}`;
      return (await query(alone, states)).map(({ state }) => state);
    };
    await execute(alone, sql`update webhook_deliveries set state = 'failed' where webhook_id in (${id}, ${other})`);
    const replay = 'mutation ($id: ID!) { replayFailedWebhookDeliveries(webhookId: $id) }';
    expect((await harness.call(replay, { id })).data.replayFailedWebhookDeliveries).toBe(1);
    expect([await statesOf(id), await statesOf(other)]).toEqual([['pending'], ['failed']]);
    expect((await harness.call('mutation ($id: ID!) { deleteWebhook(id: $id) }', { id })).data.deleteWebhook).toBe(id);
    expect([await statesOf(id), await statesOf(other)]).toEqual([[], ['failed']]);
    expect((await harness.call('query ($id: ID!) { webhook(id: $id) { id } }', { id })).code).toBe('not-found');
  });
});

describe('a test event', () => {
  it('goes only to its webhook, regardless of the types that it receives, and is shown with its body and attempts', async () => {
    const id = await made({ types: ['group.created'] });
    const { data } = await harness.call('mutation ($id: ID!) { testWebhook(id: $id) { id type state } }', { id });
    expect(data.testWebhook).toMatchObject({ type: 'webhook.tested', state: 'PENDING' });
    const list = await harness.call(
      `query ($id: ID!) { webhookDeliveries(webhookId: $id) { edges { node { id eventId attempts { status } } } } }`,
      { id },
    );
    const [{ node }] = list.data.webhookDeliveries.edges;
    const body = await harness.call('query ($id: ID!) { webhookDelivery(id: $id) { payload } }', { id: node.id });
    expect(body.data.webhookDelivery.payload).toMatchObject({
      type: 'webhook.tested',
      data: { id: node.eventId, projectId: project.id, subject: { kind: 'webhook', id, name: 'hooks.example.com' } },
    });
  });

  it('and a replay are limited, and refused while the webhook is disabled', async () => {
    const { id: projectId } = await harness.services.projects.create({ name: 'Limited' }, system);
    const id = await made({ projectId });
    const test = () => harness.call('mutation ($id: ID!) { testWebhook(id: $id) { id } }', { id });
    const replay = (delivery: string) =>
      harness.call('mutation ($id: ID!) { replayWebhookDelivery(id: $id) { state } }', { id: delivery });
    const replayFailed = () =>
      harness.call('mutation ($id: ID!) { replayFailedWebhookDeliveries(webhookId: $id) }', { id });
    const delivery = (await test()).data.testWebhook.id;
    await execute(
      harness.services.db.alone,
      sql`update webhook_deliveries set state = 'delivered' where id = ${delivery}`,
    );
    expect((await replay(delivery)).data.replayWebhookDelivery.state).toBe('PENDING');
    const enable = (enabled: boolean) =>
      harness.call('mutation ($input: UpdateWebhookInput!) { updateWebhook(input: $input) { disabledReason } }', {
        input: { id, enabled },
      });
    expect((await enable(false)).data.updateWebhook.disabledReason).toBe('ADMIN');
    expect((await test()).code).toBe('invalid');
    expect([(await replay(delivery)).code, (await replayFailed()).code]).toEqual(['invalid', 'invalid']);
    await enable(true);
    const codes = [];
    for (let n = 0; n < 60; n += 1) codes.push((await test()).code);
    expect(codes).toContain('too-many');
    expect([(await replay(delivery)).code, (await replayFailed()).code]).toEqual(['too-many', 'too-many']);
  });
});

describe('webhooks and their deliveries', () => {
  const operations: [string, string][] = [
    ['query ($id: ID!) { webhook(id: $id) { id } }', 'webhook'],
    ['query ($id: ID!) { webhookUrl(id: $id) }', 'webhook'],
    ['query ($id: ID!) { webhookDeliveries(webhookId: $id) { edges { cursor } } }', 'webhook'],
    ['query ($id: ID!) { webhookDelivery(id: $id) { payload } }', 'delivery'],
    ['mutation ($id: ID!) { updateWebhook(input: { id: $id, enabled: false }) { id } }', 'webhook'],
    ['mutation ($id: ID!) { rotateWebhookSecret(id: $id) { secret } }', 'webhook'],
    ['mutation ($id: ID!) { testWebhook(id: $id) { id } }', 'webhook'],
    ['mutation ($id: ID!) { replayWebhookDelivery(id: $id) { id } }', 'delivery'],
    ['mutation ($id: ID!) { replayFailedWebhookDeliveries(webhookId: $id) }', 'webhook'],
    ['mutation ($id: ID!) { deleteWebhook(id: $id) }', 'webhook'],
  ];

  it.each(operations)('of another project are not found: %s', async (operation, noun) => {
    const id = await made();
    const test = await harness.services.webhooks.test({ project, id }, system);
    const headers = await harness.tokenOf('project_admin', foreign.id);
    const answer = await harness.call(operation, { id: noun === 'webhook' ? id : test.id }, headers);
    expect(answer.code).toBe('not-found');
    const unknown = await harness.call(operation, { id: '019a0000-0000-7000-8000-000000000000' }, headers);
    expect([unknown.code, unknown.errors[0]?.message]).toEqual([answer.code, answer.errors[0]?.message]);
    const rows = await harness.call('query ($id: ID!) { webhook(id: $id) { disabledReason } }', { id });
    expect(rows.data.webhook).toEqual({ disabledReason: null });
  });

  it('are readable to a viewer, without the path of the address, but not changeable', async () => {
    const id = await made();
    const headers = await harness.tokenOf('project_viewer', project.id);
    const read = await harness.call(`query ($id: ID!) { webhook(id: $id) { ${shown} } }`, { id }, headers);
    expect(read.data.webhook.host).toBe('hooks.example.com');
    expect(read.body).not.toContain('token=abc');
    const address = 'query ($id: ID!) { webhookUrl(id: $id) }';
    expect((await harness.call(address, { id }, headers)).code).toBe('forbidden');
    expect((await harness.call(address, { id })).data.webhookUrl).toBe(url);
    expect((await create({}, headers)).code).toBe('forbidden');
    for (const [operation] of operations.filter(([text, noun]) => text.startsWith('mutation') && noun === 'webhook')) {
      expect((await harness.call(operation, { id }, headers)).code, operation).toBe('forbidden');
    }
  });
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));
