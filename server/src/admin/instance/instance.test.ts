import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';

let harness: AdminHarness;

beforeAll(async () => {
  harness = await openAdminHarness();
});
afterAll(() => harness.close());

describe('the instance', () => {
  it('rotates and withdraws signing keys, and never shows a private half', async () => {
    const before = (await harness.call('{ signingKeys { id alg signing } }')).data.signingKeys;
    expect(before.map((one: { alg: string }) => one.alg).sort()).toEqual(['EDDSA', 'ES512']);
    const rotated = (await harness.call('mutation { rotateSigningKeys { id signing signsFrom } }')).data
      .rotateSigningKeys;
    expect(rotated).toHaveLength(4);
    const [{ id }] = before;
    const withdraw = 'mutation ($id: ID!) { withdrawSigningKey(id: $id) { id signing withdrawnAt } }';
    const after = (await harness.call(withdraw, { id })).data.withdrawSigningKey;
    const withdrawn = after.find((one: { id: string }) => one.id === id);
    expect(withdrawn).toMatchObject({ signing: false, withdrawnAt: harness.clock.now().toISOString() });
    expect((await harness.call(withdraw, { id })).code).toBe('not-found');
  });

  it('shows the dev mailbox in pages', async () => {
    const message = {
      at: harness.clock.now(),
      channel: 'mail' as const,
      to: 'a@example.com',
      subject: 'Code',
      text: '123456',
    };
    harness.mailbox.push(
      { id: '01980000-0000-7000-8000-000000000002', ...message },
      { id: '01980000-0000-7000-8000-000000000001', ...message, text: '654321' },
    );
    const query = `query ($after: String) { devMailbox(first: 1, after: $after) {
      edges { cursor node { to text channel } } pageInfo { hasNextPage endCursor } } }`;
    const first = (await harness.call(query)).data.devMailbox;
    expect([first.edges[0].node.text, first.pageInfo.hasNextPage]).toEqual(['123456', true]);
    const second = (await harness.call(query, { after: first.pageInfo.endCursor })).data.devMailbox;
    expect([second.edges[0].node.text, second.pageInfo.hasNextPage]).toEqual(['654321', false]);
  });

  it('audits each use of the bootstrap token as the actor', async () => {
    const count = async () =>
      (await harness.services.db.reader().execute("select 1 from audit_log where type = 'bootstrap-token.used'"))
        .length;
    const before = await count();
    await harness.call('{ me { kind name grants { role projectId } freshUntil } }').then(({ data }) =>
      expect(data.me).toEqual({
        kind: 'BOOTSTRAP_TOKEN',
        name: 'bootstrap token',
        grants: [{ role: 'OWNER', projectId: null }],
        freshUntil: null,
      }),
    );
    expect(await count()).toBe(before + 1);
  });
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));
