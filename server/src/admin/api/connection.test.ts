import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';

let harness: AdminHarness;
let projectId: string;

beforeAll(async () => {
  harness = await openAdminHarness();
  projectId = (await harness.services.projects.create({ name: 'Acme' }, { kind: 'system' })).id;
});
afterAll(() => harness.close());

describe('a paginated list', () => {
  it('returns each row once, newest first, while rows are added', async () => {
    const { id } = await harness.services.projects.create({ name: 'Paged' }, { kind: 'system' });
    for (let n = 1; n <= 7; n += 1) {
      await harness.services.clients.create({ projectId: id, name: `Client ${n}` }, { kind: 'system' });
    }
    const names: string[] = [];
    let after: string | null = null;
    do {
      const { data } = await harness.call(
        `query ($id: ID!, $after: String) { clients(projectId: $id, first: 3, after: $after) { totalCount
          edges { node { name apiKeys { kind } project { name } } } pageInfo { hasNextPage hasPreviousPage endCursor } } }`,
        { id, after },
      );
      expect(data.clients.pageInfo.hasPreviousPage).toBe(after !== null);
      names.push(...data.clients.edges.map((edge: { node: { name: string } }) => edge.node.name));
      after = data.clients.pageInfo.hasNextPage ? data.clients.pageInfo.endCursor : null;
      if (names.length === 3) await harness.services.clients.create({ projectId: id, name: 'New' }, { kind: 'system' });
    } while (after);
    expect(names).toEqual([7, 6, 5, 4, 3, 2, 1].map((n) => `Client ${n}`));
  });

  it.each([0, -1, 101])('refuses first: %d', async (first) => {
    expect((await harness.call('query ($first: Int) { projects(first: $first) { totalCount } }', { first })).code).toBe(
      'invalid',
    );
  });

  it('refuses a cursor that is modified, forged, or of another list', async () => {
    const { data } = await harness.call('{ projects(first: 1) { edges { cursor } } }');
    const [{ cursor }] = data.projects.edges;
    const sql = Buffer.from("projects:' or true; drop table users; --").toString('base64url');
    for (const after of ['', 'x', `${cursor}A`, cursor.slice(1), `${cursor}=`, sql, '\u0000']) {
      const { code, status } = await harness.call('query ($after: String) { projects(after: $after) { totalCount } }', {
        after,
      });
      expect([after, status, code]).toEqual([after, 200, 'invalid']);
    }
    const other = await harness.call(
      'query ($id: ID!, $c: String) { clients(projectId: $id, after: $c) { totalCount } }',
      {
        id: projectId,
        c: cursor,
      },
    );
    expect(other.code).toBe('invalid');
  });
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));
