import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';

let harness: AdminHarness;
let projectId: string;

beforeAll(async () => {
  harness = await openAdminHarness();
  projectId = (await harness.services.projects.create({ name: 'Acme' }, { kind: 'system' })).id;
});
afterAll(() => harness.close());

const key = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
const none = '00000000-0000-7000-8000-000000000000';

describe('the API of clients', () => {
  const create = `mutation ($input: CreateClientInput!) { createClient(input: $input) { publishableKey secretKey client {
    id clientId name tokenEndpointAuthMethod jwks redirectUris postLogoutRedirectUris backchannelLogoutUri
    backchannelLogoutSessionRequired logoutTokenTyp accessTokenTtlSeconds pkceRequired disabled project { id name }
    kind apiKeys { id kind hint value createdAt lastUsedAt revokedAt } } } }`;

  it('creates a client with the defaults of the contract and its first two keys', async () => {
    const { data } = await harness.call(create, { input: { projectId, name: 'Web' } });
    const { client, publishableKey, secretKey } = data.createClient;
    expect(publishableKey).toMatch(/^lk_pk_[\w-]{43}$/);
    expect(secretKey).toMatch(/^lk_sk_[\w-]{43}$/);
    expect(client).toMatchObject({
      clientId: client.id,
      name: 'Web',
      tokenEndpointAuthMethod: 'NONE',
      jwks: null,
      redirectUris: [],
      postLogoutRedirectUris: [],
      backchannelLogoutUri: null,
      backchannelLogoutSessionRequired: true,
      logoutTokenTyp: 'SECEVENT',
      accessTokenTtlSeconds: null,
      pkceRequired: false,
      disabled: false,
      project: { id: projectId, name: 'Acme' },
    });
    expect(client.apiKeys.map((one: { kind: string; hint: string }) => [one.kind, one.hint]).sort()).toEqual([
      ['PUBLISHABLE', publishableKey.slice(-4)],
      ['SECRET', secretKey.slice(-4)],
    ]);
    expect((await harness.services.registry.bySecretKey(secretKey))?.id).toBe(client.id);
    expect(await harness.services.registry.bySecretKey(publishableKey)).toBeNull();
  });

  it('creates no secret key for a client that wants none', async () => {
    const { data } = await harness.call(create, { input: { projectId, name: 'Browser only', secretKey: false } });
    const { client, publishableKey, secretKey } = data.createClient;
    expect([typeof publishableKey, secretKey]).toEqual(['string', null]);
    expect(client.apiKeys.map(({ kind }: { kind: string }) => kind)).toEqual(['PUBLISHABLE']);
  });

  it('stores the kind of application, and its publishable key', async () => {
    const { data } = await harness.call(create, { input: { projectId, name: 'Web', kind: 'WEB_SERVER' } });
    const { client, publishableKey } = data.createClient;
    const query = 'query ($id: ID!) { client(id: $id) { kind apiKeys { kind value } } }';
    const read = async () => (await harness.call(query, { id: client.id })).data.client;
    expect((await read()).kind).toBe('WEB_SERVER');
    expect((await read()).apiKeys).toEqual(
      expect.arrayContaining([
        { kind: 'PUBLISHABLE', value: publishableKey },
        { kind: 'SECRET', value: null },
      ]),
    );
    const change = 'mutation ($input: UpdateClientInput!) { updateClient(input: $input) { kind } }';
    await harness.call(change, { input: { id: client.id, kind: 'NATIVE' } });
    expect((await read()).kind).toBe('NATIVE');
    const other = await harness.call(create, { input: { projectId, name: 'Unknown' } });
    expect(other.data.createClient.client.kind).toBeNull();
  });

  it.each([
    ['a JWK', key],
    ['a JWK Set', { keys: [{ ...key, kid: 'one', use: 'sig', alg: 'EdDSA' }] }],
    ['JSON text', JSON.stringify(key)],
    ['JSON text of a set', JSON.stringify({ keys: [key] })],
  ])('takes the key as %s, and gives it back as a set', async (_form, jwks) => {
    const input = {
      projectId,
      name: 'Service',
      tokenEndpointAuthMethod: 'PRIVATE_KEY_JWT',
      jwks,
      redirectUris: ['https://app.example.com/cb', 'http://127.0.0.1/cb'],
      postLogoutRedirectUris: ['https://app.example.com/'],
      backchannelLogoutUri: 'https://app.example.com/logout',
      backchannelLogoutSessionRequired: false,
      logoutTokenTyp: 'LOGOUT',
      accessTokenTtlSeconds: 3600,
      pkceRequired: true,
    };
    const { data } = await harness.call(create, { input });
    const { jwks: stored, ...client } = data.createClient.client;
    const { jwks: _, projectId: __, ...rest } = input;
    expect(client).toMatchObject(rest);
    expect(stored.keys).toEqual([expect.objectContaining(key)]);
  });

  it('accepts a key as a literal in the query', async () => {
    const { data } = await harness.call(`mutation { createClient(input: { projectId: "${projectId}", name: "Inline",
      tokenEndpointAuthMethod: PRIVATE_KEY_JWT, redirectUris: ["https://a.example/cb"],
      jwks: { kty: "OKP", crv: "Ed25519", x: "${key.x}" } }) { client { jwks } } }`);
    expect(data.createClient.client.jwks.keys[0].x).toBe(key.x);
  });

  it.each([
    ['jwks', { tokenEndpointAuthMethod: 'PRIVATE_KEY_JWT' }],
    ['jwks', { jwks: { ...key, d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A' } }],
    ...['Visit https://evil.example', 'www.evil.example', 'Your code is 123456', 'a\u202eb', 'a\u2028b'].map(
      (name): [string, object] => ['name', { name }],
    ),
    ['jwks', { jwks: { keys: [key, key] } }],
    ['jwks', { jwks: { keys: [] } }],
    ['jwks', { jwks: { kty: 'EC', crv: 'P-256', x: key.x, y: key.x } }],
    ['jwks', { jwks: { ...key, x: `${key.x}AA` } }],
    ['jwks', { jwks: { kty: 'RSA', n: Buffer.alloc(256, 0xff).toString('base64url'), e: 'AQ' } }],
    ['jwks', { jwks: { kty: 'RSA', n: Buffer.alloc(256, 0xff).toString('base64url'), e: 'Ag' } }],
    ['jwks', { jwks: { kty: 'RSA', n: Buffer.alloc(256, 0xff).toString('base64url'), e: 'Aw' } }],
    ['jwks', { jwks: { kty: 'RSA', n: Buffer.alloc(256, 0xff).toString('base64url'), e: 'AQAAAAE' } }],
    ['jwks', { jwks: { kty: 'RSA', n: Buffer.alloc(128, 0xff).toString('base64url'), e: 'AQAB' } }],
    ['jwks', { jwks: { ...key, x: Buffer.from([0xf0, ...Array(30).fill(0xff), 0x7f]).toString('base64url') } }],
    ['jwks', { jwks: '{' }],
    ['jwks', { jwks: [key] }],
    ['jwks', { jwks: 7 }],
    ['jwks', { jwks: { ...key, alg: 'HS256' } }],
    ['jwks', { jwks: { kty: 'constructor' } }],
    ['jwks', { jwks: { kty: { toString: 1 } } }],
    ['jwks', { jwks: { kty: 'EC', crv: { toString: 1 } } }],
    ['jwks', { jwks: { kty: 'RSA', n: 'AQAB', e: 'AQAB', alg: { toString: 1 } } }],
    ['redirectUris[0]', { redirectUris: ['http://app.example.com/cb'] }],
    ['redirectUris[1]', { redirectUris: ['https://app.example.com/cb', 'javascript:alert(1)'] }],
    ['redirectUris[0]', { redirectUris: ['https://app.example.com/cb#x'] }],
    ['redirectUris[0]', { redirectUris: ['https://*.example.com/cb'] }],
    ['redirectUris[0]', { redirectUris: ['https://user@app.example.com/cb'] }],
    ['postLogoutRedirectUris[0]', { postLogoutRedirectUris: ['data:text/html,x'] }],
    ['backchannelLogoutUri', { backchannelLogoutUri: 'http://app.example.com/logout' }],
    ['backchannelLogoutUri', { backchannelLogoutUri: 'http://127.0.0.1/logout' }],
    ['backchannelLogoutUri', { backchannelLogoutUri: 'https://169.254.169.254/logout' }],
    ['backchannelLogoutUri', { backchannelLogoutUri: 'https://localhost./logout' }],
    ['jwksUri', { jwksUri: 'https://2130706433/jwks.json' }],
    ['jwksUri', { jwksUri: 'https://[::ffff:10.0.0.1]/jwks.json' }],
    ['startUri', { startUri: 'javascript:alert(1)' }],
    ['startUri', { startUri: 'http://app.example.com/' }],
    ['startUri', { startUri: 'data:text/html,x' }],
    ['backchannelLogoutUri', { backchannelLogoutUri: 'file:///etc/passwd' }],
    ['accessTokenTtlSeconds', { accessTokenTtlSeconds: 0 }],
    ['accessTokenTtlSeconds', { accessTokenTtlSeconds: 3601 }],
  ])('refuses as invalid %s: %j', async (field, settings) => {
    const { code, errors, body } = await harness.call(create, { input: { projectId, name: 'Bad', ...settings } });
    expect([code, errors[0].extensions.field]).toEqual(['invalid', field]);
    expect(body).not.toContain('nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A');
  });

  it('lists clients that introduced themselves apart from those that admins created', async () => {
    const { projects, clients, db } = harness.services;
    const project = await projects.create({ name: 'Introductions' }, { kind: 'system' });
    const { id } = project;
    const introduced = { introducedBy: 'registration' as const, redirectUris: ['https://agent.example.com/cb'] };
    await clients.create({ projectId: id, name: 'Made' }, { kind: 'system' });
    const client = await db.transaction(async (em) => clients.make(em, project, { name: 'Agent', ...introduced }));
    const query = `query ($id: ID!, $introduced: Boolean) { clients(projectId: $id, introduced: $introduced) {
      totalCount edges { node { name introducedBy metadataUrl introduction { users } } } } }`;
    const listed = async (introduced?: boolean) => (await harness.call(query, { id, introduced })).data.clients;
    const node = { name: 'Agent', introducedBy: 'REGISTRATION', metadataUrl: null, introduction: null };
    expect(await listed(true)).toEqual({ totalCount: 1, edges: [{ node }] });
    const made = { name: 'Made', introducedBy: null, metadataUrl: null, introduction: null };
    expect(await listed()).toEqual({ totalCount: 1, edges: [{ node: made }] });
    const block = 'mutation ($input: UpdateClientInput!) { updateClient(input: $input) { disabled } }';
    const input = { id: client.id, disabled: true };
    expect((await harness.call(block, { input })).data.updateClient).toEqual({ disabled: true });
  });

  it('refuses an unknown project', async () => {
    for (const id of [none, 'x', '']) {
      expect((await harness.call(create, { input: { projectId: id, name: 'Lost' } })).code).toBe('not-found');
    }
  });

  it('changes given fields; null clears optional ones', async () => {
    const made = await harness.call(create, {
      input: {
        projectId,
        name: 'Old',
        jwks: key,
        backchannelLogoutUri: 'https://a.example/l',
        accessTokenTtlSeconds: 60,
      },
    });
    const { id } = made.data.createClient.client;
    const update = `mutation ($input: UpdateClientInput!) { updateClient(input: $input) {
      name jwks redirectUris backchannelLogoutUri accessTokenTtlSeconds disabled version } }`;
    const one = await harness.call(update, { input: { id, name: 'New', redirectUris: ['https://b.example/cb'] } });
    expect(one.data.updateClient).toMatchObject({
      name: 'New',
      redirectUris: ['https://b.example/cb'],
      backchannelLogoutUri: 'https://a.example/l',
      accessTokenTtlSeconds: 60,
      disabled: false,
      version: 2,
    });
    const input = { id, jwks: null, backchannelLogoutUri: null, accessTokenTtlSeconds: null, disabled: true };
    expect((await harness.call(update, { input })).data.updateClient).toEqual({
      name: 'New',
      jwks: null,
      redirectUris: ['https://b.example/cb'],
      backchannelLogoutUri: null,
      accessTokenTtlSeconds: null,
      disabled: true,
      version: 3,
    });
    expect((await harness.call(update, { input: { id, name: 'New', expectedVersion: 2 } })).code).toBe('conflict');
    expect((await harness.call(update, { input: { id, tokenEndpointAuthMethod: 'PRIVATE_KEY_JWT' } })).code).toBe(
      'invalid',
    );
  });

  it('issues more keys and revokes them one by one; a disabled client gets none', async () => {
    const { client, secretKey } = (await harness.call(create, { input: { projectId, name: 'Keys' } })).data
      .createClient;
    const issued = await harness.call(
      `mutation ($id: ID!) { issueApiKey(clientId: $id, kind: SECRET) { key apiKey { id kind hint revokedAt } } }`,
      { id: client.id },
    );
    const { key: second, apiKey } = issued.data.issueApiKey;
    const works = async (text: string) => (await harness.services.registry.bySecretKey(text))?.id === client.id;
    expect([await works(secretKey), await works(second)]).toEqual([true, true]);
    const revoked = await harness.call('mutation ($id: ID!) { revokeApiKey(id: $id) { id revokedAt } }', {
      id: apiKey.id,
    });
    expect(revoked.data.revokeApiKey).toEqual({ id: apiKey.id, revokedAt: harness.clock.now().toISOString() });
    expect([await works(secretKey), await works(second)]).toEqual([true, false]);
    await harness.services.clients.update(client, { disabled: true }, { kind: 'system' });
    expect(await works(secretKey)).toBe(false);
  });

  it('deletes a client and returns its id', async () => {
    const { client } = (await harness.call(create, { input: { projectId, name: 'Short' } })).data.createClient;
    const remove = () => harness.call('mutation ($id: ID!) { deleteClient(id: $id) }', { id: client.id });
    expect((await remove()).data.deleteClient).toBe(client.id);
    expect((await remove()).code).toBe('not-found');
  });

  it("does not change or delete the console's own client", async () => {
    const { id } = harness.builtIn.consoleClient;
    const refusals = await Promise.all([
      harness.call('mutation ($id: ID!) { deleteClient(id: $id) }', { id }),
      harness.call('mutation ($id: ID!) { issueApiKey(clientId: $id, kind: SECRET) { key } }', { id }),
      harness.call(
        'mutation ($id: ID!) { updateClient(input: { id: $id, redirectUris: ["https://a.example"] }) { id } }',
        { id },
      ),
    ]);
    expect(refusals.map(({ code }) => code)).toEqual(['forbidden', 'forbidden', 'forbidden']);
  });
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));
