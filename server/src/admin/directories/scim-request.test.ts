import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { system } from '../../domain/kernel/actor.ts';

let harness: AdminHarness;
beforeAll(async () => {
  harness = await openAdminHarness();
});
afterAll(() => harness.close());

describe('Query.scimRequests', () => {
  it('shows the requests of a directory, newest first, page by page', async () => {
    const { projects, requestRecords } = harness.services;
    const project = await projects.create({ name: 'Acme' }, system);
    const { scimToken } = await harness.services.directories.issueScimToken(
      { projectId: project.id, name: 'Okta' },
      system,
    );
    for (const status of [200, 201, 400]) {
      requestRecords.add(
        {
          ...{
            projectId: project.id,
            organizationId: null,
            at: harness.clock.now(),
            tokenId: scimToken.id,
            tokenName: 'Okta',
            method: 'POST',
          },
          ...{ path: '/Users', resourceId: null, status, scimType: null, detail: null, durationMs: 3 },
          ...{ userAgent: null, requestBody: '{}', responseBody: null, ignored: [], concerns: [], address: null },
          schemaVersion: 0,
        },
        (error) => harness.bugs.push(error),
      );
    }
    await requestRecords.settled();
    const ask = (after?: string) =>
      harness.call(
        `query ($id: ID!, $after: String) { scimRequests(projectId: $id, first: 2, after: $after) {
          edges { node { status tokenName } } pageInfo { hasNextPage endCursor } } }`,
        { id: project.id, after },
      );
    const first = (await ask()).data.scimRequests;
    expect(first.edges.map(({ node }: any) => node.status)).toEqual([400, 201]);
    expect(first.pageInfo.hasNextPage).toBe(true);
    const second = (await ask(first.pageInfo.endCursor)).data.scimRequests;
    expect(second.edges).toEqual([{ node: { status: 200, tokenName: 'Okta' } }]);
    expect(harness.bugs).toEqual([]);
  });
});
