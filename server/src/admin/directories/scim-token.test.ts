import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminRoom, openAdminRoom } from '../../../test/admin-room.ts';

let room: AdminRoom;
let projectId: string;

beforeAll(async () => {
  room = await openAdminRoom();
  projectId = (await room.services.projects.create({ name: 'Acme' }, { kind: 'system' })).id;
});
afterAll(() => room.close());

describe('SCIM tokens', () => {
  it('issues one that works at once and not after it is revoked', async () => {
    const { data } = await room.call(
      `mutation ($input: IssueScimTokenInput!) { issueScimToken(input: $input) {
        token scimToken { id name hint expiresAt revokedAt project { id } } } }`,
      { input: { projectId, name: 'Okta', expiresAt: '2030-01-01T00:00:00Z' } },
    );
    const { token, scimToken } = data.issueScimToken;
    expect(token).toMatch(/^lk_scim_/);
    expect(scimToken).toMatchObject({ name: 'Okta', hint: token.slice(-4), expiresAt: '2030-01-01T00:00:00.000Z' });
    await expect(room.services.directories.authenticate(projectId, `Bearer ${token}`)).resolves.toMatchObject({
      tokenName: 'Okta',
    });
    const revoke = 'mutation ($id: ID!) { revokeScimToken(id: $id) { id revokedAt } }';
    expect((await room.call(revoke, { id: scimToken.id })).data.revokeScimToken.revokedAt).toBeTruthy();
    await expect(room.services.directories.authenticate(projectId, `Bearer ${token}`)).rejects.toThrow();
    const list = await room.call('query ($id: ID!) { scimTokens(projectId: $id) { id hint } }', { id: projectId });
    expect(list.data.scimTokens).toEqual([{ id: scimToken.id, hint: token.slice(-4) }]);
  });

  it('refuses an expiry in the past', async () => {
    const input = { projectId, name: 'Late', expiresAt: '2020-01-01T00:00:00Z' };
    const mutation = 'mutation ($input: IssueScimTokenInput!) { issueScimToken(input: $input) { token } }';
    expect((await room.call(mutation, { input })).code).toBe('invalid');
  });
});

it('reports no unexpected error', () => expect(room.bugs).toEqual([]));
