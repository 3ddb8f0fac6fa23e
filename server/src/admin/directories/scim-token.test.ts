import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { atOnce } from '../../../test/at-once.ts';
import { everything } from '../../domain/admins/permission.ts';
import { execute, query, sql } from '../../domain/kernel/sql.ts';
import { keyIn } from '../../domain/projects/tenant.ts';

let harness: AdminHarness;
let projectId: string;

beforeAll(async () => {
  harness = await openAdminHarness();
  projectId = (await harness.services.projects.create({ name: 'Acme' }, { kind: 'system' })).id;
});
afterAll(() => harness.close());

/** Inserts tokens, which is faster than issuing them. */
function tokensOf(id: string, count: number, expiresAt: Date | null = null): Promise<number> {
  return execute(
    harness.services.db.alone,
    sql`insert into scim_tokens (project_id, id, name, hash, hint, created_at, expires_at)
      select ${id}, gen_random_uuid(), 'T ' || n, gen_random_uuid(), 'abcd', ${harness.clock.now()}, ${expiresAt}::timestamptz
      from generate_series(1, ${count}::int) n`,
  );
}

describe('SCIM tokens', () => {
  it('work immediately, and no longer after revocation', async () => {
    const { data } = await harness.call(
      `mutation ($input: IssueScimTokenInput!) { issueScimToken(input: $input) {
        token scimToken { id name hint expiresAt revokedAt project { id } } } }`,
      { input: { projectId, name: 'Okta', expiresAt: '2030-01-01T00:00:00Z' } },
    );
    const { token, scimToken } = data.issueScimToken;
    expect(token).toMatch(/^lk_scim_/);
    expect(scimToken).toMatchObject({ name: 'Okta', hint: token.slice(-4), expiresAt: '2030-01-01T00:00:00.000Z' });
    await expect(
      harness.services.directories.authenticate(projectId, { authorization: `Bearer ${token}`, ip: undefined }),
    ).resolves.toMatchObject({
      tokenName: 'Okta',
    });
    const revoke = 'mutation ($id: ID!) { revokeScimToken(id: $id) { id revokedAt } }';
    expect((await harness.call(revoke, { id: scimToken.id })).data.revokeScimToken.revokedAt).toBeTruthy();
    await expect(
      harness.services.directories.authenticate(projectId, { authorization: `Bearer ${token}`, ip: undefined }),
    ).rejects.toThrow();
    const list = await harness.call('query ($id: ID!) { scimTokens(projectId: $id) { id hint } }', { id: projectId });
    expect(list.data.scimTokens).toEqual([{ id: scimToken.id, hint: token.slice(-4) }]);
  });

  it('cannot be issued with an expiry in the past', async () => {
    const input = { projectId, name: 'Late', expiresAt: '2020-01-01T00:00:00Z' };
    const mutation = 'mutation ($input: IssueScimTokenInput!) { issueScimToken(input: $input) { token } }';
    expect((await harness.call(mutation, { input })).code).toBe('invalid');
  });
});

describe('mails about SCIM tokens', () => {
  const mutation = 'mutation ($input: IssueScimTokenInput!) { issueScimToken(input: $input) { scimToken { id } } }';

  it('contain no link from an admin, and are limited to a hundred tokens', async () => {
    const { id } = await harness.services.projects.create({ name: 'Phisher' }, { kind: 'system' });
    const admin = await harness.tokenOf('project_admin', id);
    const issue = (name: string) => harness.call(mutation, { input: { projectId: id, name } }, admin);
    for (const name of ['Sign in at https://evil.example', 'www.evil.example']) {
      expect(await issue(name)).toMatchObject({ code: 'invalid', errors: [{ extensions: { field: 'name' } }] });
    }
    await tokensOf(id, 99);
    expect((await issue('Hundredth')).code).toBeUndefined();
    const refused = await issue('One more');
    expect(refused.errors[0].message).toBe('projectId already has 100 tokens: revoke one first.');
  });

  it('are limited to a hundred tokens, even under concurrent requests', async () => {
    const { db, directories, projects } = harness.services;
    const { id } = await projects.create({ name: 'Hasty' }, { kind: 'system' });
    await tokensOf(id, 99);
    const works = ['one', 'two', 'three'].map(
      (name) => () => directories.issueScimToken({ projectId: id, name }, { kind: 'system' }),
    );
    const issued = await atOnce(db, 'scim_tokens', works);
    expect(issued.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('allow another token for each that has expired or was revoked', async () => {
    const { directories, projects } = harness.services;
    const { id } = await projects.create({ name: 'Full' }, { kind: 'system' });
    await tokensOf(id, 98);
    await tokensOf(id, 1, new Date(harness.clock.now().getTime() + 3600 * 1000));
    const issue = () => directories.issueScimToken({ projectId: id, name: 'More' }, { kind: 'system' });
    const { scimToken } = await issue();
    await expect(issue()).rejects.toMatchObject({ problem: { code: 'invalid' } });
    await directories.revokeScimToken(scimToken, { kind: 'system' });
    await issue();
    await expect(issue()).rejects.toMatchObject({ problem: { code: 'invalid' } });
    harness.clock.turn(3600);
    await issue();
    await expect(issue()).rejects.toMatchObject({ problem: { code: 'invalid' } });
  });

  it('are limited to fifty a day for each project', async () => {
    const { admins, db, directoryWarnings, projects } = harness.services;
    const { id } = await projects.create({ name: 'Loud' }, { kind: 'system' });
    const by = { grants: everything, actor: { kind: 'system' as const } };
    await admins.grantRole({ email: 'loud@example.com', role: 'project_admin', projectId: id }, by);
    await tokensOf(id, 55, new Date(harness.clock.now().getTime() + 31 * 24 * 3600 * 1000));
    harness.clock.turn(2 * 24 * 3600);
    await directoryWarnings.send();
    const mails = sql`select from messages where recipient = 'loud@example.com'`;
    expect(await query(db.alone, mails)).toHaveLength(50);
    const events = sql`select from audit_log where project_id = ${id} and type = 'scim-token.expiring'`;
    expect(await query(db.alone, events)).toHaveLength(55);
  });
});

describe('a SCIM token with networks', () => {
  const mutation = `mutation ($input: IssueScimTokenInput!) { issueScimToken(input: $input) {
    token scimToken { id networks } } }`;
  const issue = (networks: string[]) => harness.call(mutation, { input: { projectId, name: 'Bound', networks } });

  it('works only from them, and records uses from others once an hour', async () => {
    const networks = ['192.0.2.0/24', '2001:DB8::/32', '198.51.100.7'];
    const { token, scimToken } = (await issue(networks)).data.issueScimToken;
    expect(scimToken.networks).toEqual(['192.0.2.0/24', '2001:db8::/32', '198.51.100.7']);
    const from = async (ip: string | undefined, by = token) =>
      harness.services.directories.authenticate(projectId, { authorization: `Bearer ${by}`, ip }).then(
        () => 'accepted',
        (error) => error.problem?.code ?? error,
      );
    for (const ip of ['192.0.2.200', '::ffff:192.0.2.1', '2001:db8:1::9', '2001:db8::1%eth0', '198.51.100.7']) {
      expect([ip, await from(ip)]).toEqual([ip, 'accepted']);
    }
    for (const ip of ['192.0.3.1', '::ffff:192.0.3.1', '2001:db9::1', '198.51.100.8', '::1', '', 'x', undefined]) {
      expect([ip, await from(ip)]).toEqual([ip, 'forbidden']);
    }
    const refusals = async () => {
      const query = `query ($id: ID!) { auditEvents(projectId: $id, filter: { types: ["scim-token.network_refused"] }) {
        edges { node { subject { id } ip } } } }`;
      const { edges } = (await harness.call(query, { id: projectId })).data.auditEvents;
      return edges.map(({ node }: any) => node.subject.id);
    };
    expect(await refusals()).toEqual([scimToken.id]);
    const second = (await issue(networks)).data.issueScimToken;
    harness.clock.turn(3601);
    await Promise.all(Array.from({ length: 5 }, () => from('192.0.3.1')));
    expect(await refusals()).toEqual([scimToken.id, scimToken.id]);
    expect(await from('192.0.3.1', second.token)).toBe('forbidden');
    expect(await refusals()).toEqual([second.scimToken.id, scimToken.id, scimToken.id]);
  });

  it.each([
    '10.0.0.0/33',
    '2001:db8::/129',
    '10.0.0',
    'example.com',
    '10.0.0.0/8/8',
    '::ffff:10.0.0.1',
    'fe80::1%0',
    '',
  ])('refuses %j as a network', async (network) => {
    expect((await issue([network])).code).toBe('invalid');
  });

  it('has at most 20 of them', async () => {
    expect((await issue(Array.from({ length: 21 }, (_, index) => `10.0.0.${index}`))).code).toBe('invalid');
  });
});

describe('warnings of SCIM tokens that expire', () => {
  it('are sent once for 30, 7 and 1 days ahead, to the admins of the project', async () => {
    const { admins, db, directories, directoryWarnings, projects } = harness.services;
    const { id } = await projects.create({ name: 'Warned' }, { kind: 'system' });
    const by = { grants: everything, actor: { kind: 'system' as const } };
    for (const email of ['one@example.com', 'two@example.com']) {
      await admins.grantRole({ email, role: 'project_admin', projectId: id }, by);
    }
    const day = 24 * 3600;
    const at = (days: number) => new Date(harness.clock.now().getTime() + days * day * 1000);
    await directories.issueScimToken({ projectId: id, name: 'Year', expiresAt: at(365) }, { kind: 'system' });
    await directories.issueScimToken({ projectId: id, name: 'Never' }, { kind: 'system' });
    await directories.issueScimToken({ projectId: id, name: 'Week', expiresAt: at(3) }, { kind: 'system' });
    // It expires while no job runs.
    await directories.issueScimToken({ projectId: id, name: 'Missed', expiresAt: at(300) }, { kind: 'system' });
    const ended = await directories.issueScimToken(
      { projectId: id, name: 'Ended', expiresAt: at(40) },
      { kind: 'system' },
    );
    await directories.revokeScimToken(keyIn(id, ended.scimToken.id), { kind: 'system' });
    const sent = async () => {
      // Two processes run the job at the same time.
      await Promise.all([directoryWarnings.send(), directoryWarnings.send()]);
      const rows = await query(
        db.alone,
        sql<{ name: string; days: number }>`select subject_name as name, (detail->>'days')::int as days from audit_log
          where project_id = ${id} and type = 'scim-token.expiring' order by at, id`,
      );
      const [mails] = await query(
        db.alone,
        sql<{ count: string }>`select count(*) from messages where template = 'scim-token-expiring'
          and recipient in ('one@example.com', 'two@example.com')`,
      );
      return [rows.map(({ name, days }) => `${name} ${days}`), Number(mails?.count)];
    };
    expect(await sent()).toEqual([[], 0]);
    harness.clock.turn(2.5 * day);
    expect(await sent()).toEqual([['Week 1'], 2]);
    harness.clock.turn(333 * day);
    expect(await sent()).toEqual([['Week 1', 'Year 30'], 4]);
    expect(await sent()).toEqual([['Week 1', 'Year 30'], 4]);
    harness.clock.turn(22 * day);
    expect(await sent()).toEqual([['Week 1', 'Year 30'], 4]);
    harness.clock.turn(0.6 * day);
    expect(await sent()).toEqual([['Week 1', 'Year 30', 'Year 7'], 6]);
    harness.clock.turn(5.5 * day);
    expect((await sent())[1]).toBe(6);
    harness.clock.turn(0.5 * day);
    expect(await sent()).toEqual([['Week 1', 'Year 30', 'Year 7', 'Year 1'], 8]);
    harness.clock.turn(2 * day);
    expect((await sent())[1]).toBe(8);
  });

  it('go to the owners of the instance if the project has no admin', async () => {
    const { admins, db, directories, directoryWarnings, projects } = harness.services;
    const by = { grants: everything, actor: { kind: 'system' as const } };
    await admins.grantRole({ email: 'owner@example.com', role: 'owner' }, by);
    const { id } = await projects.create({ name: 'Nobody’s' }, { kind: 'system' });
    const expiresAt = new Date(harness.clock.now().getTime() + 40 * 24 * 3600 * 1000);
    await directories.issueScimToken({ projectId: id, name: 'Lonely', expiresAt }, { kind: 'system' });
    harness.clock.turn(15 * 24 * 3600);
    await directoryWarnings.send();
    const mails = await query(
      db.alone,
      sql<{ recipient: string }>`select recipient from messages where template = 'scim-token-expiring'
        and recipient not in ('one@example.com', 'two@example.com')`,
    );
    expect(mails.map(({ recipient }) => recipient)).toContain('owner@example.com');
  });
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));
