/** Mutations with an `Idempotency-Key`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, bootstrap, openAdminHarness } from '../../../test/admin-harness.ts';
import { system } from '../../domain/kernel/actor.ts';

let harness: AdminHarness;
let projectId: string;
let keys = 0;

beforeAll(async () => {
  harness = await openAdminHarness();
  projectId = (await harness.services.projects.create({ name: 'Acme' }, system)).id;
});
afterAll(() => harness.close());

const newKey = () => `00000000-0000-4000-8000-${String(++keys).padStart(12, '0')}`;
const createGroup = 'mutation ($input: CreateGroupInput!) { createGroup(input: $input) { id displayName } }';
const group = (displayName: string) => ({ input: { projectId, displayName } });
const send = (key: string, variables: object, headers: Record<string, string> = bootstrap, query = createGroup) =>
  harness.call(query, variables, { ...headers, 'Idempotency-Key': key });
const groupsNamed = async (name: string) => {
  const query =
    'query ($projectId: ID!) { groups(projectId: $projectId, first: 100) { edges { node { displayName } } } }';
  const { data } = await harness.call(query, { projectId });
  return data.groups.edges.filter((edge: { node: { displayName: string } }) => edge.node.displayName === name).length;
};

describe('a mutation with an Idempotency-Key', () => {
  it('runs once: a retry gets the same answer', async () => {
    const key = newKey();
    const first = await send(key, group('Once'));
    const second = await send(key, group('Once'));
    expect(first.data.createGroup.displayName).toBe('Once');
    expect(second.data).toEqual(first.data);
    expect(await groupsNamed('Once')).toBe(1);
  });

  it('runs once for two hundred equal requests at the same time', async () => {
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 200 }, () => send(key, group('Race'))));
    const outcomes = new Set(answers.map(({ data, code }) => code ?? data.createGroup.id));
    outcomes.delete('outcome-unknown');
    expect(outcomes.size).toBe(1);
    expect(await groupsNamed('Race')).toBe(1);
    expect((await send(key, group('Race'))).data.createGroup.id).toBe([...outcomes][0]);
  });

  it('is refused with other variables, and with another query, naming the header', async () => {
    const key = newKey();
    await send(key, group('Mine'));
    const other = await send(key, group('Other'));
    expect([other.code, other.errors[0].extensions.field]).toEqual(['invalid', 'Idempotency-Key']);
    expect(other.errors[0].message).toBe('Idempotency-Key was used for another request.');
    const query = createGroup.replace('id displayName', 'id');
    expect((await send(key, group('Mine'), bootstrap, query)).errors[0].extensions.field).toBe('Idempotency-Key');
    expect([await groupsNamed('Mine'), await groupsNamed('Other')]).toEqual([1, 0]);
  });

  it('runs again after 24 hours', async () => {
    const key = newKey();
    const first = await send(key, group('Daily'));
    harness.clock.turn(24 * 3600 - 1);
    expect((await send(key, group('Daily'))).data).toEqual(first.data);
    harness.clock.turn(1);
    expect((await send(key, group('Later'))).data.createGroup.displayName).toBe('Later');
  });

  it('frees its key when it is refused', async () => {
    const key = newKey();
    expect((await send(key, group(''))).code).toBe('invalid');
    expect((await send(key, group('Corrected'))).data.createGroup.displayName).toBe('Corrected');
  });

  it('has a key of its own for each caller', async () => {
    const key = newKey();
    const [one, two] = [
      await harness.tokenOf('project_admin', projectId),
      await harness.tokenOf('project_admin', projectId),
    ];
    const first = await send(key, group('One'), one);
    const second = await send(key, group('Two'), two);
    expect([first.data.createGroup.displayName, second.data.createGroup.displayName]).toEqual(['One', 'Two']);
  });

  it('is not answered again to a caller who lost the right to it', async () => {
    const key = newKey();
    const userId = await harness.person('former@example.com');
    const elsewhere = (await harness.services.projects.create({ name: 'Elsewhere' }, system)).id;
    const grant = 'mutation ($input: GrantRoleInput!) { grantRole(input: $input) { id } }';
    const input = { email: 'former@example.com', role: 'PROJECT_ADMIN' };
    const { data } = await harness.call(grant, { input: { ...input, projectId } });
    await harness.call(grant, { input: { ...input, projectId: elsewhere } });
    const session = await harness.sessionOf(userId);
    expect((await send(key, group('Former'), session)).code).toBeUndefined();
    await harness.call('mutation ($id: ID!) { revokeRole(id: $id) }', { id: data.grantRole.id });
    const retry = await send(key, group('Former'), session);
    expect([retry.code, retry.data]).toEqual(['not-found', undefined]);
  });

  it('gets the first answer of a deletion, although its object is gone', async () => {
    const [key, created] = [newKey(), await send(newKey(), group('Deleted'))];
    const remove = 'mutation ($id: ID!) { deleteGroup(id: $id) }';
    const variables = { id: created.data.createGroup.id };
    const caller = await harness.tokenOf('project_admin', projectId);
    const first = await send(key, variables, caller, remove);
    expect(first.code).toBeUndefined();
    expect(await send(key, variables, caller, remove)).toMatchObject({ code: undefined, data: first.data });
    // Other keys, requests and callers find nothing, as without a key.
    expect((await send(newKey(), variables, caller, remove)).code).toBe('not-found');
    expect((await send(key, variables, bootstrap, remove)).code).toBe('not-found');
    expect((await send(key, variables, caller, remove.replace('($id: ID!)', 'A($id: ID!)'))).code).toBe('not-found');
    harness.clock.turn(24 * 3600);
    expect((await send(key, variables, caller, remove)).code).toBe('not-found');
  });

  it('that deleted something is not answered again for a caller who lost the right', async () => {
    const [key, created] = [newKey(), await send(newKey(), group('Deleted'))];
    const remove = 'mutation ($id: ID!) { deleteGroup(id: $id) }';
    const userId = await harness.person('deleter@example.com');
    const grant = 'mutation ($input: GrantRoleInput!) { grantRole(input: $input) { id } }';
    const input = { email: 'deleter@example.com', role: 'PROJECT_ADMIN', projectId };
    const { data } = await harness.call(grant, { input });
    const elsewhere = (await harness.services.projects.create({ name: 'Beside' }, system)).id;
    await harness.call(grant, { input: { ...input, projectId: elsewhere } });
    const session = await harness.sessionOf(userId);
    const variables = { id: created.data.createGroup.id };
    expect((await send(key, variables, session, remove)).code).toBeUndefined();
    await harness.call('mutation ($id: ID!) { revokeRole(id: $id) }', { id: data.grantRole.id });
    expect((await send(key, variables, session, remove)).code).toBe('not-found');
  });

  it('needs a fresh sign-in for a retry, too', async () => {
    const key = newKey();
    const userId = await harness.person('stale@example.com');
    await harness.call('mutation ($input: GrantRoleInput!) { grantRole(input: $input) { id } }', {
      input: { email: 'stale@example.com', role: 'OWNER' },
    });
    const session = await harness.sessionOf(userId);
    const issue = 'mutation ($input: IssueScimTokenInput!) { issueScimToken(input: $input) { token } }';
    const variables = { input: { projectId, name: 'Okta' } };
    const first = await send(key, variables, session, issue);
    expect((await send(key, variables, session, issue)).data).toEqual(first.data);
    harness.clock.turn(16 * 60);
    expect((await send(key, variables, session, issue)).code).toBe('reauthentication-required');
  });

  it('does not run again while its outcome is unknown', async () => {
    const key = newKey();
    await send(key, group('Lost'));
    await harness.services.db.reader().execute('update idempotent_requests set sealed_answer = null');
    const { code, errors } = await send(key, group('Lost'));
    expect([code, errors[0].extensions.field]).toEqual(['outcome-unknown', 'Idempotency-Key']);
    expect(await groupsNamed('Lost')).toBe(1);
  });

  it('is refused with a key that is short or long, and with several mutations', async () => {
    for (const key of ['short', 'x'.repeat(129), 'with a space in it']) {
      expect([key, (await send(key, group('Key'))).errors[0]?.extensions.field]).toEqual([key, 'Idempotency-Key']);
    }
    const two = `mutation ($input: CreateGroupInput!) { a: createGroup(input: $input) { id } b: createGroup(input: $input) { id } }`;
    expect((await send(newKey(), group('Key'), bootstrap, two)).errors[0].extensions.field).toBe('Idempotency-Key');
    expect(await groupsNamed('Key')).toBe(0);
  });

  it('stores neither the answer nor the request in plain text', async () => {
    const issue = 'mutation ($input: IssueScimTokenInput!) { issueScimToken(input: $input) { token } }';
    const { data } = await send(newKey(), { input: { projectId, name: 'Secret' } }, bootstrap, issue);
    const rows = await harness.services.db
      .reader()
      .execute(`select encode(sealed_answer, 'escape') as answer, * from idempotent_requests`);
    expect(data.issueScimToken.token).toMatch(/./);
    expect(JSON.stringify(rows)).not.toContain(data.issueScimToken.token);
  });

  it('does not change a query', async () => {
    expect((await send(newKey(), {}, bootstrap, '{ me { kind } }')).data.me.kind).toBe('BOOTSTRAP_TOKEN');
  });
});
