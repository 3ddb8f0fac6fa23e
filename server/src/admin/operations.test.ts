import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminRoom, openAdminRoom } from '../../test/admin-room.ts';

let room: AdminRoom;
let projectId: string;

beforeAll(async () => {
  room = await openAdminRoom();
  projectId = (await room.services.projects.create({ name: 'Acme' }, { kind: 'system' })).id;
});
afterAll(() => room.close());

const key = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
const none = '00000000-0000-7000-8000-000000000000';

describe('projects', () => {
  it('has the defaults of the contract when only a name is given', async () => {
    const { data } = await room.call(
      `mutation ($input: CreateProjectInput!) { createProject(input: $input) {
        id name builtIn scimEnabled scimAuthoritative testMode signUp mfaPolicy version
        sessionPolicy { idleTimeoutSeconds maxSessionSeconds idTokenTtlSeconds accessTokenTtlSeconds } } }`,
      { input: { name: '  Example Inc. ' } },
    );
    expect(data.createProject).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Example Inc.',
      builtIn: null,
      scimEnabled: true,
      scimAuthoritative: true,
      testMode: false,
      signUp: 'OPEN',
      mfaPolicy: 'OFF',
      version: 1,
      sessionPolicy: {
        idleTimeoutSeconds: 1800,
        maxSessionSeconds: 28800,
        idTokenTtlSeconds: 60,
        accessTokenTtlSeconds: 300,
      },
    });
  });

  it('changes what is given, leaves what is absent or null, and tells before and after', async () => {
    const { id } = await room.services.projects.create({ name: 'Before' }, { kind: 'system' });
    const { data } = await room.call(
      `mutation ($input: UpdateProjectInput!) { updateProject(input: $input) {
        name scimEnabled signUp mfaPolicy testMode scimAuthoritative version } }`,
      { input: { id, name: 'After', signUp: 'PROVISIONED_ONLY', mfaPolicy: 'REQUIRED', scimEnabled: null } },
    );
    expect(data.updateProject).toEqual({
      name: 'After',
      scimEnabled: true,
      signUp: 'PROVISIONED_ONLY',
      mfaPolicy: 'REQUIRED',
      testMode: false,
      scimAuthoritative: true,
      version: 2,
    });
    const events = await room.call(
      `query ($id: ID) { auditEvents(projectId: $id, filter: { types: ["project.updated"] }) {
        edges { node { type result actor { kind name } subject { kind id name } detail } } } }`,
      { id },
    );
    expect(events.data.auditEvents.edges.map((edge: { node: unknown }) => edge.node)).toEqual([
      {
        type: 'project.updated',
        result: 'SUCCESS',
        actor: { kind: 'bootstrap-token', name: 'bootstrap token' },
        subject: { kind: 'project', id, name: 'After' },
        detail: {
          before: { name: 'Before', signUp: 'open', mfaPolicy: 'off' },
          after: { name: 'After', signUp: 'provisioned_only', mfaPolicy: 'required' },
        },
      },
    ]);
  });

  it.each([
    ['accessTokenTtlSeconds', 0],
    ['accessTokenTtlSeconds', 3601],
    ['accessTokenTtlSeconds', -1],
    ['idTokenTtlSeconds', 0],
    ['idleTimeoutSeconds', 0],
    ['maxSessionSeconds', 2_000_000_000],
  ])('refuses a session policy with %s of %d as invalid', async (field, value) => {
    const input = { projectId, [field]: value };
    const { code, errors } = await room.call(
      'mutation ($input: UpdateSessionPolicyInput!) { updateSessionPolicy(input: $input) { id } }',
      { input },
    );
    expect(code).toBe('invalid');
    expect(errors[0].extensions.field).toBe(field);
  });

  it('takes a session policy within its bounds, and a part of it', async () => {
    const mutation = `mutation ($input: UpdateSessionPolicyInput!) { updateSessionPolicy(input: $input) {
      idleTimeoutSeconds maxSessionSeconds idTokenTtlSeconds accessTokenTtlSeconds } }`;
    const whole = {
      idleTimeoutSeconds: 60,
      maxSessionSeconds: 3600,
      idTokenTtlSeconds: 30,
      accessTokenTtlSeconds: 3600,
    };
    const first = await room.call(mutation, { input: { projectId, ...whole } });
    expect(first.data.updateSessionPolicy).toEqual(whole);
    const second = await room.call(mutation, { input: { projectId, accessTokenTtlSeconds: 1 } });
    expect(second.data.updateSessionPolicy).toEqual({ ...whole, accessTokenTtlSeconds: 1 });
  });

  it('tells the second of two admins who edit one thing', async () => {
    const { id } = await room.services.projects.create({ name: 'Shared' }, { kind: 'system' });
    const edit = (name: string) =>
      room.call('mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { name } }', {
        input: { id, name, expectedVersion: 1 },
      });
    const answers = await Promise.all([edit('One'), edit('Two')]);
    expect(answers.map((answer) => answer.code).sort()).toEqual(['conflict', undefined]);
  });

  it.each(['', '   ', 'x'.repeat(101), 'two\nlines', 'nul\u0000', 'half \ud800'])(
    'refuses the name %j',
    async (name) => {
      const { code, status } = await room.call(
        'mutation ($input: CreateProjectInput!) { createProject(input: $input) { id } }',
        { input: { name } },
      );
      expect([status, code]).toEqual([200, 'invalid']);
    },
  );

  it('deletes a project only by its name, and says what was lost', async () => {
    const { id } = await room.services.projects.create({ name: 'Gone soon' }, { kind: 'system' });
    await room.services.clients.create({ projectId: id, name: 'App' }, { kind: 'system' });
    const remove = (confirmName: string) =>
      room.call(
        `mutation ($input: DeleteProjectInput!) { deleteProject(input: $input) { users clients sessions scimTokens } }`,
        { input: { id, confirmName } },
      );
    expect((await remove('gone soon')).code).toBe('invalid');
    expect((await remove('Gone soon')).data.deleteProject).toEqual({
      users: 0,
      clients: 1,
      sessions: 0,
      scimTokens: 0,
    });
    expect((await room.call('query ($id: ID!) { project(id: $id) { id } }', { id })).code).toBe('not-found');
  });

  it('keeps the project of the admins closed', async () => {
    const { id, name } = room.builtIn.console;
    const mutation = 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
    for (const change of [{ testMode: true }, { scimEnabled: true }, { signUp: 'OPEN' }]) {
      expect((await room.call(mutation, { input: { id, ...change } })).code).toBe('invalid');
    }
    const remove = 'mutation ($input: DeleteProjectInput!) { deleteProject(input: $input) { users } }';
    expect((await room.call(remove, { input: { id, confirmName: name } })).code).toBe('forbidden');
    const issue = 'mutation ($input: IssueScimTokenInput!) { issueScimToken(input: $input) { token } }';
    expect((await room.call(issue, { input: { projectId: id, name: 'x' } })).code).toBe('forbidden');
  });
});

describe('clients', () => {
  const create = `mutation ($input: CreateClientInput!) { createClient(input: $input) { publishableKey secretKey client {
    id clientId name tokenEndpointAuthMethod jwks redirectUris postLogoutRedirectUris backchannelLogoutUri
    backchannelLogoutSessionRequired logoutTokenTyp accessTokenTtlSeconds disabled project { id name }
    apiKeys { id kind hint createdAt lastUsedAt revokedAt } } } }`;

  it('has the defaults of the contract and its first two keys', async () => {
    const { data } = await room.call(create, { input: { projectId, name: 'Web' } });
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
      disabled: false,
      project: { id: projectId, name: 'Acme' },
    });
    expect(client.apiKeys.map((one: { kind: string; hint: string }) => [one.kind, one.hint]).sort()).toEqual([
      ['PUBLISHABLE', publishableKey.slice(-4)],
      ['SECRET', secretKey.slice(-4)],
    ]);
    const found = await room.services.registry.byApiKey(secretKey);
    expect([found?.client.id, found?.kind]).toEqual([client.id, 'secret']);
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
    };
    const { data } = await room.call(create, { input });
    const { jwks: stored, ...client } = data.createClient.client;
    const { jwks: _, projectId: __, ...rest } = input;
    expect(client).toMatchObject(rest);
    expect(stored.keys).toEqual([expect.objectContaining(key)]);
  });

  it('takes a key that is written into the query itself', async () => {
    const { data } = await room.call(`mutation { createClient(input: { projectId: "${projectId}", name: "Inline",
      tokenEndpointAuthMethod: PRIVATE_KEY_JWT, redirectUris: ["https://a.example/cb"],
      jwks: { kty: "OKP", crv: "Ed25519", x: "${key.x}" } }) { client { jwks } } }`);
    expect(data.createClient.client.jwks.keys[0].x).toBe(key.x);
  });

  it.each([
    ['jwks', { tokenEndpointAuthMethod: 'PRIVATE_KEY_JWT' }],
    ['jwks', { jwks: { ...key, d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A' } }],
    ['jwks', { jwks: { keys: [key, key] } }],
    ['jwks', { jwks: { keys: [] } }],
    ['jwks', { jwks: { kty: 'EC', crv: 'P-256', x: key.x, y: key.x } }],
    ['jwks', { jwks: { ...key, x: `${key.x}AA` } }],
    ['jwks', { jwks: '{' }],
    ['jwks', { jwks: [key] }],
    ['jwks', { jwks: 7 }],
    ['jwks', { jwks: { ...key, alg: 'HS256' } }],
    ['redirectUris[0]', { redirectUris: ['http://app.example.com/cb'] }],
    ['redirectUris[1]', { redirectUris: ['https://app.example.com/cb', 'javascript:alert(1)'] }],
    ['redirectUris[0]', { redirectUris: ['https://app.example.com/cb#x'] }],
    ['redirectUris[0]', { redirectUris: ['https://*.example.com/cb'] }],
    ['redirectUris[0]', { redirectUris: ['https://user@app.example.com/cb'] }],
    ['postLogoutRedirectUris[0]', { postLogoutRedirectUris: ['data:text/html,x'] }],
    ['backchannelLogoutUri', { backchannelLogoutUri: 'http://app.example.com/logout' }],
    ['backchannelLogoutUri', { backchannelLogoutUri: 'http://127.0.0.1/logout' }],
    ['backchannelLogoutUri', { backchannelLogoutUri: 'file:///etc/passwd' }],
    ['accessTokenTtlSeconds', { accessTokenTtlSeconds: 0 }],
    ['accessTokenTtlSeconds', { accessTokenTtlSeconds: 3601 }],
  ])('refuses as invalid %s: %j', async (field, settings) => {
    const { code, errors, body } = await room.call(create, { input: { projectId, name: 'Bad', ...settings } });
    expect([code, errors[0].extensions.field]).toEqual(['invalid', field]);
    expect(body).not.toContain('nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A');
  });

  it('refuses a project that is not there', async () => {
    for (const id of [none, 'x', '']) {
      expect((await room.call(create, { input: { projectId: id, name: 'Lost' } })).code).toBe('not-found');
    }
  });

  it('changes what is given; null takes away what can be absent', async () => {
    const made = await room.call(create, {
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
    const one = await room.call(update, { input: { id, name: 'New', redirectUris: ['https://b.example/cb'] } });
    expect(one.data.updateClient).toMatchObject({
      name: 'New',
      redirectUris: ['https://b.example/cb'],
      backchannelLogoutUri: 'https://a.example/l',
      accessTokenTtlSeconds: 60,
      disabled: false,
      version: 2,
    });
    const input = { id, jwks: null, backchannelLogoutUri: null, accessTokenTtlSeconds: null, disabled: true };
    expect((await room.call(update, { input })).data.updateClient).toEqual({
      name: 'New',
      jwks: null,
      redirectUris: ['https://b.example/cb'],
      backchannelLogoutUri: null,
      accessTokenTtlSeconds: null,
      disabled: true,
      version: 3,
    });
    expect((await room.call(update, { input: { id, name: 'New', expectedVersion: 2 } })).code).toBe('conflict');
    expect((await room.call(update, { input: { id, tokenEndpointAuthMethod: 'PRIVATE_KEY_JWT' } })).code).toBe(
      'invalid',
    );
  });

  it('issues further keys and revokes each alone; a disabled client has none', async () => {
    const { client, secretKey } = (await room.call(create, { input: { projectId, name: 'Keys' } })).data.createClient;
    const issued = await room.call(
      `mutation ($id: ID!) { issueApiKey(clientId: $id, kind: SECRET) { key apiKey { id kind hint revokedAt } } }`,
      { id: client.id },
    );
    const { key: second, apiKey } = issued.data.issueApiKey;
    const works = async (text: string) => (await room.services.registry.byApiKey(text))?.client.id === client.id;
    expect([await works(secretKey), await works(second)]).toEqual([true, true]);
    const revoked = await room.call('mutation ($id: ID!) { revokeApiKey(id: $id) { id revokedAt } }', {
      id: apiKey.id,
    });
    expect(revoked.data.revokeApiKey).toEqual({ id: apiKey.id, revokedAt: room.clock.now().toISOString() });
    expect([await works(secretKey), await works(second)]).toEqual([true, false]);
    await room.services.clients.update(client.id, { disabled: true }, { kind: 'system' });
    expect(await works(secretKey)).toBe(false);
  });

  it('deletes a client, with its id as the answer', async () => {
    const { client } = (await room.call(create, { input: { projectId, name: 'Short' } })).data.createClient;
    const remove = () => room.call('mutation ($id: ID!) { deleteClient(id: $id) }', { id: client.id });
    expect((await remove()).data.deleteClient).toBe(client.id);
    expect((await remove()).code).toBe('not-found');
  });

  it("leaves the console's own client alone", async () => {
    const { id } = room.builtIn.consoleClient;
    const refusals = await Promise.all([
      room.call('mutation ($id: ID!) { deleteClient(id: $id) }', { id }),
      room.call('mutation ($id: ID!) { issueApiKey(clientId: $id, kind: SECRET) { key } }', { id }),
      room.call(
        'mutation ($id: ID!) { updateClient(input: { id: $id, redirectUris: ["https://a.example"] }) { id } }',
        { id },
      ),
    ]);
    expect(refusals.map(({ code }) => code)).toEqual(['forbidden', 'forbidden', 'forbidden']);
  });
});

describe('SCIM tokens', () => {
  it('issues one that works at once and never after it was revoked', async () => {
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

describe('users', () => {
  it('finds people by the beginning of what they are known by, in any case, literally', async () => {
    const { db, users } = room.services;
    const ids = await db.transaction(async (em) => {
      const made: string[] = [];
      for (const address of ['ada@example.com', 'Adam@example.org', '100%@example.net']) {
        made.push((await users.signUp(em, projectId, address, { kind: 'system' })).id);
      }
      return made;
    });
    const search = async (text: string) => {
      const { data } = await room.call(
        'query ($id: ID!, $q: String) { users(projectId: $id, search: $q) { totalCount edges { node { id } } } }',
        { id: projectId, q: text },
      );
      return data.users.edges.map((edge: { node: { id: string } }) => edge.node.id);
    };
    expect(await search('ada')).toEqual([ids[1], ids[0]]);
    expect(await search('ADAM')).toEqual([ids[1]]);
    expect(await search('100%')).toEqual([ids[2]]);
    expect(await search('%')).toEqual([]);
    expect(await search("' or 1=1 --")).toEqual([]);
    const one = await room.call(
      'query ($id: ID!) { user(id: $id) { userName email provenance active project { id } } }',
      {
        id: ids[0],
      },
    );
    expect(one.data.user).toEqual({
      userName: 'ada@example.com',
      email: 'ada@example.com',
      provenance: 'LOCAL',
      active: true,
      project: { id: projectId },
    });
    const inactive = await room.call(
      'query ($id: ID!) { users(projectId: $id, filter: { active: false }) { totalCount edges { cursor } } }',
      { id: projectId },
    );
    expect(inactive.data.users).toEqual({ totalCount: 0, edges: [] });
  });
});

describe('pages', () => {
  it('walks a list once, newest first, while rows come', async () => {
    const { id } = await room.services.projects.create({ name: 'Paged' }, { kind: 'system' });
    for (let n = 1; n <= 7; n += 1) {
      await room.services.clients.create({ projectId: id, name: `Client ${n}` }, { kind: 'system' });
    }
    const names: string[] = [];
    let after: string | null = null;
    do {
      const { data } = await room.call(
        `query ($id: ID!, $after: String) { clients(projectId: $id, first: 3, after: $after) { totalCount
          edges { node { name apiKeys { kind } project { name } } } pageInfo { hasNextPage hasPreviousPage endCursor } } }`,
        { id, after },
      );
      expect(data.clients.pageInfo.hasPreviousPage).toBe(after !== null);
      names.push(...data.clients.edges.map((edge: { node: { name: string } }) => edge.node.name));
      after = data.clients.pageInfo.hasNextPage ? data.clients.pageInfo.endCursor : null;
      if (names.length === 3) await room.services.clients.create({ projectId: id, name: 'New' }, { kind: 'system' });
    } while (after);
    expect(names).toEqual([7, 6, 5, 4, 3, 2, 1].map((n) => `Client ${n}`));
  });

  it.each([0, -1, 101])('refuses first: %d', async (first) => {
    expect((await room.call('query ($first: Int) { projects(first: $first) { totalCount } }', { first })).code).toBe(
      'invalid',
    );
  });

  it('refuses a cursor that was altered, made up, or of another list', async () => {
    const { data } = await room.call('{ projects(first: 1) { edges { cursor } } }');
    const [{ cursor }] = data.projects.edges;
    const sql = Buffer.from("projects:' or true; drop table users; --").toString('base64url');
    for (const after of ['', 'x', `${cursor}A`, cursor.slice(1), `${cursor}=`, sql, '\u0000']) {
      const { code, status } = await room.call('query ($after: String) { projects(after: $after) { totalCount } }', {
        after,
      });
      expect([after, status, code]).toEqual([after, 200, 'invalid']);
    }
    const other = await room.call(
      'query ($id: ID!, $c: String) { clients(projectId: $id, after: $c) { totalCount } }',
      {
        id: projectId,
        c: cursor,
      },
    );
    expect(other.code).toBe('invalid');
  });
});

describe('the instance', () => {
  it('rotates and withdraws signing keys, and never shows a private half', async () => {
    const before = (await room.call('{ signingKeys { id alg signing } }')).data.signingKeys;
    expect(before.map((one: { alg: string }) => one.alg).sort()).toEqual(['EDDSA', 'ES512']);
    const rotated = (await room.call('mutation { rotateSigningKeys { id signing signsFrom } }')).data.rotateSigningKeys;
    expect(rotated).toHaveLength(4);
    const [{ id }] = before;
    const withdraw = 'mutation ($id: ID!) { withdrawSigningKey(id: $id) { id signing withdrawnAt } }';
    const after = (await room.call(withdraw, { id })).data.withdrawSigningKey;
    const withdrawn = after.find((one: { id: string }) => one.id === id);
    expect(withdrawn).toMatchObject({ signing: false, withdrawnAt: room.clock.now().toISOString() });
    expect((await room.call(withdraw, { id })).code).toBe('not-found');
  });

  it('shows the dev mailbox in pages', async () => {
    const message = {
      at: room.clock.now(),
      channel: 'mail' as const,
      to: 'a@example.com',
      subject: 'Code',
      text: '123456',
    };
    room.mailbox.push(
      { id: '01980000-0000-7000-8000-000000000002', ...message },
      { id: '01980000-0000-7000-8000-000000000001', ...message, text: '654321' },
    );
    const query = `query ($after: String) { devMailbox(first: 1, after: $after) {
      edges { cursor node { to text channel } } pageInfo { hasNextPage endCursor } } }`;
    const first = (await room.call(query)).data.devMailbox;
    expect([first.edges[0].node.text, first.pageInfo.hasNextPage]).toEqual(['123456', true]);
    const second = (await room.call(query, { after: first.pageInfo.endCursor })).data.devMailbox;
    expect([second.edges[0].node.text, second.pageInfo.hasNextPage]).toEqual(['654321', false]);
  });

  it('audits each use of the bootstrap token, and says who did it', async () => {
    const count = async () =>
      (await room.services.db.reader().execute("select 1 from audit_events where type = 'bootstrap-token.used'"))
        .length;
    const before = await count();
    await room.call('{ me { kind name grants { role projectId } freshUntil } }').then(({ data }) =>
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

it('met no bug on the way', () => expect(room.bugs).toEqual([]));
