import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';

let harness: AdminHarness;
let projectId: string;

beforeAll(async () => {
  harness = await openAdminHarness();
  projectId = (await harness.services.projects.create({ name: 'Acme' }, { kind: 'system' })).id;
});
afterAll(() => harness.close());

const create = `mutation ($input: CreateClientInput!) { createClient(input: $input) { clientSecret client {
  id tokenEndpointAuthMethod idTokenSignedResponseAlg grantTypes idTokenTtlSeconds jwksUri pkceRequired pkceOptional clientSecrets { id hint revokedAt } } } }`;
const issue = `mutation ($id: ID!) { issueClientSecret(clientId: $id) { secret clientSecret { id hint lastUsedAt } } }`;
const revoke = `mutation ($id: ID!) { revokeClientSecret(id: $id) { id revokedAt } }`;

async function created(settings: object) {
  const { data } = await harness.call(create, { input: { projectId, name: 'Product', ...settings } });
  return data.createClient;
}

describe('client secrets', () => {
  it('are created with a client that needs one, shown once', async () => {
    const { client, clientSecret } = await created({
      tokenEndpointAuthMethod: 'CLIENT_SECRET_BASIC',
      idTokenSignedResponseAlg: 'RS256',
    });
    expect(clientSecret).toMatch(/^lk_cs_[\w-]{43}$/);
    expect(client).toMatchObject({
      tokenEndpointAuthMethod: 'CLIENT_SECRET_BASIC',
      idTokenSignedResponseAlg: 'RS256',
      jwksUri: null,
      pkceOptional: true,
      clientSecrets: [{ hint: clientSecret.slice(-4), revokedAt: null }],
    });
    expect(await created({})).toMatchObject({ clientSecret: null, client: { clientSecrets: [] } });
  });

  it('are at most two at a time', async () => {
    const { client } = await created({ tokenEndpointAuthMethod: 'CLIENT_SECRET_POST' });
    const second = (await harness.call(issue, { id: client.id })).data.issueClientSecret;
    const third = await harness.call(issue, { id: client.id });
    expect(third.errors?.[0]?.extensions).toMatchObject({ field: 'clientId' });
    const revoked = (await harness.call(revoke, { id: client.clientSecrets[0].id })).data.revokeClientSecret;
    expect(revoked.revokedAt).not.toBeNull();
    const again = (await harness.call(revoke, { id: client.clientSecrets[0].id })).data.revokeClientSecret;
    expect(again).toEqual(revoked);
    expect((await harness.call(issue, { id: client.id })).data.issueClientSecret.secret).not.toBe(second.secret);
    const events = await harness.call(
      `query ($id: ID) { auditEvents(projectId: $id, filter: { types: ["client-secret.issued", "client-secret.revoked"] }, first: 4) {
        edges { node { type } } } }`,
      { id: projectId },
    );
    const types = events.data.auditEvents.edges.map(({ node }: { node: { type: string } }) => node.type);
    expect(types.slice(0, 3)).toEqual(['client-secret.issued', 'client-secret.revoked', 'client-secret.issued']);
  });

  it('give a new client what products expect, unless it has values of its own', async () => {
    const secret = { tokenEndpointAuthMethod: 'CLIENT_SECRET_POST' };
    const defaults = {
      ...{ idTokenSignedResponseAlg: 'RS256', grantTypes: ['AUTHORIZATION_CODE', 'REFRESH_TOKEN'] },
      ...{ idTokenTtlSeconds: 300, pkceOptional: true, pkceRequired: false },
    };
    expect((await created(secret)).client).toMatchObject(defaults);
    const own = {
      ...{ idTokenSignedResponseAlg: 'ES512', grantTypes: ['AUTHORIZATION_CODE'], idTokenTtlSeconds: 86_400 },
      ...{ pkceOptional: false, pkceRequired: false },
    };
    expect((await created({ ...secret, ...own })).client).toMatchObject(own);
    expect((await created({ ...secret, idTokenTtlSeconds: null })).client).toMatchObject({ idTokenTtlSeconds: null });
    const others = {
      ...{ idTokenSignedResponseAlg: 'ES512', grantTypes: ['AUTHORIZATION_CODE'], idTokenTtlSeconds: null },
      ...{ pkceOptional: false },
    };
    const { publicKey } = generateKeyPairSync('ed25519');
    const jwks = publicKey.export({ format: 'jwk' });
    for (const settings of [{}, { tokenEndpointAuthMethod: 'PRIVATE_KEY_JWT', jwks }]) {
      expect((await created(settings)).client).toMatchObject(others);
    }
  });

  it.each([0, 86_401, -1])('refuse an ID token lifetime of %i seconds', async (idTokenTtlSeconds) => {
    const input = { projectId, name: 'Grafana', idTokenTtlSeconds };
    const mutation = 'mutation ($input: CreateClientInput!) { createClient(input: $input) { client { id } } }';
    const { errors } = await harness.call(mutation, { input });
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'invalid', field: 'idTokenTtlSeconds' });
  });

  it('make PKCE optional only for a new client that does not require it', async () => {
    const optional = async (settings: object) => (await created(settings)).client.pkceOptional;
    const secret = { tokenEndpointAuthMethod: 'CLIENT_SECRET_BASIC' };
    expect(await optional({ ...secret, pkceRequired: false })).toBe(true);
    expect(await optional({ ...secret, pkceRequired: true })).toBe(false);
    expect(await optional({ pkceRequired: false })).toBe(false);
  });

  it.each([['http://app.example.com/jwks.json'], ['https://app.example.com/jwks.json#x'], ['nonsense']])(
    'are not needed with keys at an address, which cannot be %s',
    async (jwksUri) => {
      const input = { projectId, name: 'Product', tokenEndpointAuthMethod: 'PRIVATE_KEY_JWT' };
      const good = await harness.call(create, { input: { ...input, jwksUri: 'https://app.example.com/jwks.json' } });
      expect(good.data.createClient.client.jwksUri).toBe('https://app.example.com/jwks.json');
      const refused = await harness.call(create, { input: { ...input, jwksUri } });
      expect(refused.errors?.[0]?.extensions).toMatchObject({ field: 'jwksUri' });
    },
  );
});

describe('the slug of a project', () => {
  const make = `mutation ($input: CreateProjectInput!) { createProject(input: $input) { slug issuer } }`;

  it('is given, or derived from the name, and is part of its issuer', async () => {
    const given = (await harness.call(make, { input: { name: 'Given', slug: 'my-slug' } })).data.createProject;
    expect(given.slug).toBe('my-slug');
    expect(given.issuer).toMatch(/^https?:\/\/[^/]+\/p\/my-slug$/);
    expect((await harness.call(make, { input: { name: 'Made of Words' } })).data.createProject.slug).toBe(
      'made-of-words',
    );
  });

  it.each(['my-slug', 'Upper', '-a', 'a-', 'a/b', '', 'x'.repeat(41), 'ü'])('cannot be %j', async (slug) => {
    await harness.call(make, { input: { name: 'First', slug: 'my-slug' } });
    const refused = await harness.call(make, { input: { name: 'Other', slug } });
    expect(refused.errors?.[0]?.extensions).toMatchObject({ field: 'slug' });
  });
});
