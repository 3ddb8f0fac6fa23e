/** Clients at the admin API: tokens of the grant `client_credentials` with exactly their scopes, in their project. */
import type { GraphQLField, GraphQLObjectType } from 'graphql';
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makePair } from '../../../test/back-end.ts';
import { bootstrapToken, buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { dpopKey } from '../../../test/dpop.ts';
import { administer, apiOf, ask, basic, type Machine, machineOf, send, tokenOf } from '../../../test/machine.ts';
import { partyAt } from '../../../test/project-issuer.ts';
import { system } from '../../domain/kernel/actor.ts';
import { type AdminScope, adminScopes } from '../../domain/kernel/admin-api.ts';
import { query, sql } from '../../domain/kernel/sql.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import type { User } from '../../domain/users/user.entity.ts';
import { adminSchema } from '../schema.ts';
import { operationRuleOf, scopesFor } from './access.ts';

let app: TestApp;
let project: Project;
let user: User;

beforeAll(async () => {
  app = await buildTestApp();
  await app.services.seed.create({ demo: false });
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await app.make.project();
  user = await app.make.user(project);
});

const withScopes = (...adminScopes: AdminScope[]) => machineOf(app, project, { adminScopes });
const readUser = (id = user.id) => `{ user(id: "${id}") { userName } }`;

describe('a client with scopes at the admin API', () => {
  it('gets a token for it by default, or by its resource, and uses exactly these scopes', async () => {
    const machine = await withScopes('users:read');
    const token = await tokenOf(machine);
    expect((await administer(app, token, readUser())).data).toEqual({ user: { userName: user.userName } });
    const named = await tokenOf(machine, { resource: `${app.url}/admin`, scope: 'users:read' });
    expect((await administer(app, named, readUser())).data.user).not.toBeNull();
    const refused = {
      change: `mutation { updateUser(input: { id: "${user.id}", givenName: "X" }) { id } }`,
      clients: `{ clients(projectId: "${project.id}") { totalCount } }`,
      project: `{ user(id: "${user.id}") { project { name } } }`,
      events: `{ auditEvents(projectId: "${project.id}") { edges { node { id } } } }`,
      me: '{ me { name } }',
    };
    for (const [name, query] of Object.entries(refused)) {
      expect([name, (await administer(app, token, query)).code]).toEqual([name, 'forbidden']);
    }
  });

  it('reads consents with `consent:read`, withdraws them with `consent:write`, and nothing else', async () => {
    const { client: asking } = await app.make.client(project, { thirdParty: true });
    const give = (of: User) =>
      app.services.db.transaction((em) =>
        app.services.consents.give(
          em,
          asking,
          of,
          { scope: 'openid email', resources: [], organizationId: null },
          system,
        ),
      );
    await give(user);
    await give(await app.make.user(project));
    const all = `{ consents(projectId: "${project.id}") { totalCount edges { node { id userId clientId scopes } } } }`;
    const listed = async (token: string, query = all) => {
      const { data } = await administer(app, token, query);
      return data.consents.edges.map((edge: { node: object }) => edge.node);
    };
    const reader = await tokenOf(await withScopes('consent:read'));
    expect(await listed(reader)).toHaveLength(2);
    const limited = (by: string) => listed(reader, all.replace('") {', `", ${by}) {`));
    const [consent] = await limited(`userId: "${user.id}"`);
    expect(consent).toMatchObject({ userId: user.id, clientId: asking.id });
    expect(consent.scopes.toSorted()).toEqual(['email', 'openid']);
    expect(await limited(`clientId: "${asking.id}", first: 1`)).toHaveLength(1);
    expect(await limited(`clientId: "${user.id}"`)).toEqual([]);
    expect((await administer(app, reader, all.replace('") {', '", userId: "x") {'))).code).toBe('invalid');
    const revoke = `mutation { revokeConsent(id: "${consent.id}") }`;
    for (const query of [
      revoke,
      readUser(),
      all.replace('scopes', 'client { name }'),
      `{ userAccess(userId: "${user.id}") { consents { id } } }`,
      `{ client(id: "${asking.id}") { name } }`,
      '{ me { name } }',
    ]) {
      expect([query, (await administer(app, reader, query)).code]).toEqual([query, 'forbidden']);
    }

    const foreign = await tokenOf(await machineOf(app, await app.make.project(), { adminScopes: ['consent:write'] }));
    expect((await administer(app, foreign, all)).code).toBe('not-found');
    expect((await administer(app, foreign, revoke)).code).toBe('not-found');
    const writer = await tokenOf(await withScopes('consent:write'));
    const change = `mutation { updateUser(input: { id: "${user.id}", givenName: "X" }) { id } }`;
    expect((await administer(app, writer, change)).code).toBe('forbidden');
    expect((await administer(app, writer, revoke)).data).toEqual({ revokeConsent: consent.id });
    expect(await listed(writer)).toHaveLength(1);
    // Consents are a part of users.
    expect(await listed(await tokenOf(await withScopes('users:write')))).toHaveLength(1);
    expect((await administer(app, await tokenOf(await withScopes('clients:write', 'audit:read')), all)).code).toBe(
      'forbidden',
    );
  });

  it('reads with `projects:read` only the fields of SCIM requests that name no user', async () => {
    const { requestRecords } = app.services;
    const about = { projectId: project.id, at: app.clock.now(), tokenId: user.id, tokenName: 'Okta' };
    const texts = {
      path: '/Users?filter=userName eq "ada@example.com"',
      detail: 'ada@example.com exists',
      requestBody: '{"userName":"ada@example.com"}',
      responseBody: '{"userName":"ada@example.com"}',
      // A path can contain a filter.
      ignored: ['urn:example:2.0:User:emails[value eq "ada@example.com"].note'],
    };
    const rest = { resourceId: null, status: 409, scimType: null, durationMs: 3, userAgent: null, address: null };
    const entry = { ...about, organizationId: null, ...texts, ...rest, method: 'POST', concerns: [], schemaVersion: 0 };
    requestRecords.add(entry, (error) => expect(error).toBeUndefined());
    const requests = (fields: string) =>
      `{ scimRequests(projectId: "${project.id}") { edges { node { ${fields} } } } }`;
    const token = await tokenOf(await withScopes('projects:read'));
    const shown = await administer(app, token, requests('method status tokenName'));
    const node = { method: 'POST', status: 409, tokenName: 'Okta' };
    expect(shown.data).toEqual({ scimRequests: { edges: [{ node }] } });
    for (const field of Object.keys(texts)) {
      const answer = await administer(app, token, requests(field));
      expect([field, answer.code, JSON.stringify(answer.data)]).toEqual([
        field,
        'forbidden',
        expect.not.stringContaining('ada@'),
      ]);
    }
    const both = await tokenOf(await withScopes('projects:read', 'users:read'));
    const all = await administer(app, both, requests(Object.keys(texts).join(' ')));
    expect(all.data.scimRequests.edges).toEqual([{ node: texts }]);
  });

  it('reads itself with `profile:self`, and nothing else', async () => {
    const machine = await withScopes('profile:self');
    const token = await tokenOf(machine, { scope: 'profile:self' });
    const me = '{ me { kind id name scopes grants { role projectId } } }';
    const { id, name } = machine.client;
    const grants = [{ role: 'PROJECT_VIEWER', projectId: project.id }];
    expect((await administer(app, token, me)).data.me).toEqual({
      ...{ kind: 'CLIENT', id, name, grants },
      scopes: ['profile:self'],
    });
    for (const query of [readUser(), `{ client(id: "${id}") { name } }`, '{ projects { edges { node { id } } } }']) {
      expect((await administer(app, token, query)).code).toBe('forbidden');
    }
    expect((await administer(app, await tokenOf(await withScopes('clients:write', 'users:write')), me)).code).toBe(
      'forbidden',
    );
  });

  it('provisions users with the scope `scim`, only as the directory of its project', async () => {
    const machine = await withScopes('scim');
    const token = await tokenOf(machine, { scope: 'scim' });
    const provision = async (of: Project, held = token, scheme = 'Bearer') => {
      const response = await fetch(`${app.url}/v1/scim/${of.id}/Users`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/scim+json', Authorization: `${scheme} ${held}` },
        body: JSON.stringify({ userName: crypto.randomUUID() }),
      });
      return response.status;
    };
    expect(await provision(project)).toBe(201);
    const [event] = await query(
      app.services.db.alone,
      sql<{ actor_kind: string; actor_id: string }>`select actor_kind, actor_id from audit_log
        where project_id = ${project.id} and type = 'user.created' order by id desc limit 1`,
    );
    expect(event).toEqual({ actor_kind: 'scim', actor_id: machine.client.id });
    // It has no right at the admin API, and a token without the scope has none here.
    expect((await administer(app, token, readUser())).code).toBe('forbidden');
    expect(await provision(project, await tokenOf(await withScopes('users:write', 'projects:write')))).not.toBe(201);
    const other = await app.make.project();
    await app.services.directories.issueScimToken({ projectId: other.id, name: 'Other' }, system);
    expect(await provision(other)).toBe(401);
    expect(await provision(project, `${token}x`)).not.toBe(201);
    expect(await provision(project, token, 'DPoP')).not.toBe(201);
    await app.services.clients.update(keyIn(project.id, machine.client.id), { disabled: true }, system);
    expect(await provision(project)).not.toBe(201);
  });

  it('that may write may also read; the audit log names it', async () => {
    const machine = await withScopes('users:write', 'audit:read');
    const token = await tokenOf(machine);
    const change = `mutation { updateUser(input: { id: "${user.id}", givenName: "Grace" }) { givenName } }`;
    expect((await administer(app, token, change)).data).toEqual({ updateUser: { givenName: 'Grace' } });
    const events = `{ auditEvents(projectId: "${project.id}", filter: { types: ["user.updated"] }) {
      edges { node { actor { kind id name } } } } }`;
    const { data } = await administer(app, token, events);
    const { id, name } = machine.client;
    expect(JSON.stringify(data)).toContain(id);
    expect(JSON.stringify(data)).toContain(`"name":"${name}"`);
    const narrow = await tokenOf(machine, { scope: 'audit:read' });
    expect((await administer(app, narrow, readUser())).code).toBe('forbidden');
  });

  it('sees and changes nothing of another project, or of the instance', async () => {
    const token = await tokenOf(await withScopes(...adminScopes));
    const other = await app.make.project();
    const stranger = await app.make.user(other);
    for (const query of [
      readUser(stranger.id),
      `{ project(id: "${other.id}") { name } }`,
      `{ users(projectId: "${other.id}") { totalCount } }`,
      `mutation { updateUser(input: { id: "${stranger.id}", givenName: "X" }) { id } }`,
    ]) {
      expect((await administer(app, token, query)).code).toBe('not-found');
    }
    const { data } = await administer(app, token, '{ projects { edges { node { id } } } }');
    expect(data.projects.edges).toEqual([{ node: { id: project.id } }]);
    for (const query of [
      '{ system { level } }',
      '{ signingKeys { id } }',
      '{ auditEvents { edges { node { id } } } }',
    ]) {
      expect((await administer(app, token, query)).code).toBe('forbidden');
    }
    const export_ = (path: string) =>
      fetch(`${app.url}/admin/export/${path}`, { headers: { Authorization: `Bearer ${token}` } });
    expect((await export_(`events?project=${project.id}`)).status).toBe(200);
    expect((await export_(`events?project=${other.id}`)).status).toBe(404);
    expect((await export_('events')).status).toBe(403);
  });

  it('may not export everything about a user, which exceeds every scope; an admin may', async () => {
    const { id } = project;
    const issue = `mutation { issueAdminToken(input: { name: "X", role: PROJECT_ADMIN, projectId: "${id}" }) { token } }`;
    const { data } = await administer(app, bootstrapToken, issue);
    const export_ = async (token: string, path: string) => {
      const response = await fetch(`${app.url}/admin/export/users${path}`, {
        headers: { Authorization: `Bearer ${token}` },
      });
      return { status: response.status, text: await response.text() };
    };
    const { status, text } = await export_(data.issueAdminToken.token, `/${user.id}`);
    expect([status, JSON.parse(text).profile.userName]).toEqual([200, user.userName]);
    const scopes: AdminScope[][] = [['users:read', 'consent:write'], ['users:write'], [...adminScopes]];
    for (const held of scopes) {
      const token = await tokenOf(await withScopes(...held));
      const refused = await export_(token, `/${user.id}`);
      expect([held, refused.status]).toEqual([held, 403]);
      expect(refused.text).toContain('applications may not use it');
      // The list has the same users as `users`.
      expect((await export_(token, `?project=${id}`)).status).toBe(200);
    }
  });

  it('may not give rights, or make other credentials of admins and directories', async () => {
    const token = await tokenOf(await withScopes(...adminScopes));
    const { id } = project;
    for (const query of [
      `mutation { issueAdminToken(input: { name: "X", role: PROJECT_VIEWER, projectId: "${id}" }) { token } }`,
      `mutation { grantRole(input: { email: "x@example.com", role: PROJECT_VIEWER, projectId: "${id}" }) { id } }`,
      `mutation { issueScimToken(input: { projectId: "${id}", name: "X" }) { token } }`,
      `mutation { deleteProject(input: { id: "${id}", confirmName: "${project.name}" }) { users } }`,
      'mutation { createProject(input: { name: "X" }) { id } }',
      'mutation { rotateSigningKeys { id } }',
    ]) {
      expect((await administer(app, token, query)).code).toBe('forbidden');
    }
  });

  it('cannot give itself or another client more rights, nor take over one that has more', async () => {
    const machine = await withScopes('clients:write');
    const token = await tokenOf(machine);
    const strong = await withScopes('users:write');
    const equal = await withScopes('clients:read');
    const set = (id: string, scopes: string) =>
      administer(
        app,
        token,
        `mutation { updateClient(input: { id: "${id}", adminScopes: ${scopes} }) { adminScopes } }`,
      );
    expect((await set(machine.client.id, '["users:read"]')).code).toBe('forbidden');
    expect((await set(strong.client.id, '[]')).code).toBe('forbidden');
    expect((await set(equal.client.id, '["clients:write"]')).data.updateClient.adminScopes).toEqual(['clients:write']);
    const [secret] = await app.services.clientSecrets.of(app.services.db.reader(), [strong.client]);
    for (const query of [
      `issueClientSecret(clientId: "${strong.client.id}") { secret }`,
      `issueApiKey(clientId: "${strong.client.id}", kind: SECRET) { key }`,
      `revokeClientSecret(id: "${secret?.id}") { id }`,
      `updateClient(input: { id: "${strong.client.id}", jwksUri: "https://x.example.com/jwks" }) { id }`,
      `deleteClient(id: "${strong.client.id}")`,
      `createClient(input: { projectId: "${project.id}", name: "X", adminScopes: ["audit:read"] }) { clientSecret }`,
    ]) {
      expect([query, (await administer(app, token, `mutation { ${query} }`)).code]).toEqual([query, 'forbidden']);
    }
    const made = `mutation { createClient(input: { projectId: "${project.id}", name: "X" }) { client { id } } }`;
    expect((await administer(app, token, made)).code).toBeUndefined();
  });

  it('needs `users:write`, too, to register delegation keys and to start test mode', async () => {
    const { client } = await app.make.client(project);
    const { signing, encryption } = makePair().publicPem;
    const keys = `signingKey: ${JSON.stringify(signing)}, encryptionKey: ${JSON.stringify(encryption)}`;
    const register = `mutation { registerDelegationKeys(input: { clientId: "${client.id}", ${keys} }) { party } }`;
    const set = (testMode: boolean) =>
      `mutation { updateProject(input: { id: "${project.id}", testMode: ${testMode} }) { testMode } }`;
    const weak = await tokenOf(await withScopes('clients:write', 'projects:write', 'users:read'));
    for (const change of [register, set(true)]) {
      expect([change, (await administer(app, weak, change)).code]).toEqual([change, 'forbidden']);
    }
    expect(await app.services.delegationKeys.list(app.services.db.reader(), [client])).toEqual([]);
    const strong = await tokenOf(await withScopes('clients:write', 'projects:write', 'users:write'));
    expect((await administer(app, strong, register)).data).toEqual({ registerDelegationKeys: { party: 'SP' } });
    expect((await administer(app, strong, set(true))).data).toEqual({ updateProject: { testMode: true } });
    expect((await administer(app, weak, set(false))).data).toEqual({ updateProject: { testMode: false } });
    const only = await tokenOf(await withScopes('users:write'));
    for (const change of [register, set(true)]) {
      expect([change, (await administer(app, only, change)).code]).toEqual([change, 'forbidden']);
    }
  });

  it('loses access immediately: scope, grant type, disabled, revoked, deleted', async () => {
    const endings: Record<string, (machine: Machine, token: string) => Promise<unknown>> = {
      scope: ({ client }) => app.services.clients.update(client, { adminScopes: [] }, system),
      grant: ({ client }) => app.services.clients.update(client, { grantTypes: ['authorization_code'] }, system),
      disabled: ({ client }) => app.services.clients.update(client, { disabled: true }, system),
      revoked: (machine, token) => send(machine, '/oauth2/revoke', { token }),
      deleted: ({ client }) => app.services.clients.delete(client, system),
    };
    for (const [name, end] of Object.entries(endings)) {
      const machine = await withScopes('users:read');
      const token = await tokenOf(machine);
      expect((await administer(app, token, readUser())).status).toBe(200);
      await end(machine, token);
      expect([name, (await administer(app, token, readUser())).status]).toEqual([name, 401]);
    }
  });

  it('loses the tokens that only a revoked secret can have obtained', async () => {
    const { clientSecrets, db } = app.services;
    const machine = await withScopes('users:read');
    const earlier = await tokenOf(machine);
    app.clock.turn(61);
    const { secret } = await clientSecrets.issue(machine.client, system);
    const later = await tokenOf({ ...machine, secret });
    const statuses = async () => {
      const answers = await Promise.all([earlier, later].map((token) => administer(app, token, readUser())));
      return answers.map(({ status }) => status);
    };
    const [newest, oldest] = await clientSecrets.of(db.reader(), [machine.client]);
    expect(await statuses()).toEqual([200, 200]);
    if (oldest) await clientSecrets.revoke(oldest, system);
    expect(await statuses()).toEqual([401, 200]);
    if (newest) await clientSecrets.revoke(newest, system);
    expect(await statuses()).toEqual([401, 401]);
  });

  it('proves its key for a token that is bound to one (RFC 9449)', async () => {
    const machine = await withScopes('users:read');
    const [key, other] = [await dpopKey(app.clock), await dpopKey(app.clock)];
    const tokenUrl = { url: `${machine.issuer}/oauth2/token` };
    const response = await ask(machine, {}, { ...basic(machine), DPoP: await key.proof(tokenUrl) });
    const { access_token: token, token_type } = (await response.json()) as { access_token: string; token_type: string };
    expect([token_type, decodeJwt(token)['cnf']]).toEqual(['DPoP', { jkt: key.jkt }]);
    const call = async (scheme: string, proof?: string) => {
      const { status, headers } = await fetch(`${app.url}/admin/graphql`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Authorization: `${scheme} ${token}`,
          ...(proof !== undefined && { DPoP: proof }),
        },
        body: JSON.stringify({ query: readUser() }),
      });
      return [status, headers.get('www-authenticate')?.split(',')[0]];
    };
    const at = { url: `${app.url}/admin/graphql`, token };
    const proof = await key.proof(at);
    expect(await call('DPoP', proof)).toEqual([200, undefined]);
    const invalid = [401, 'DPoP error="invalid_dpop_proof"'];
    expect(await call('DPoP', proof)).toEqual(invalid);
    expect(await call('DPoP', await key.proof({ ...at, token: `${token}x` }))).toEqual(invalid);
    expect(await call('DPoP', await key.proof({ ...at, url: machine.issuer }))).toEqual(invalid);
    expect(await call('DPoP', await other.proof(at))).toEqual([401, 'Bearer']);
    expect(await call('Bearer')).toEqual([401, 'Bearer']);
    expect(await call('DPoP')).toEqual([401, 'Bearer']);
    const again = await ask(machine, {}, { ...basic(machine), DPoP: proof });
    expect(again.status).toBe(400);
    const { status } = await send(machine, '/oauth2/introspect', { token });
    expect(status).toBe(200);
    await app.services.clients.update(machine.client, { dpopNonceRequired: true }, system);
    expect(await call('DPoP', await key.proof(at))).toEqual([401, 'DPoP error="use_dpop_nonce"']);
    const nonce = app.services.dpopNonces.current();
    expect(await call('DPoP', await key.proof(at, { nonce }))).toEqual([200, undefined]);
  });

  it('keeps those scopes of a token that it still has', async () => {
    const machine = await withScopes('users:read', 'clients:read');
    const token = await tokenOf(machine);
    await app.services.clients.update(machine.client, { adminScopes: ['clients:read'] }, system);
    expect((await administer(app, token, readUser())).code).toBe('forbidden');
    expect((await administer(app, token, `{ client(id: "${machine.client.id}") { name } }`)).code).toBeUndefined();
  });
});

describe('the admin API refuses', () => {
  it('a token that has expired, is altered, for another audience, or of another kind', async () => {
    const machine = await withScopes('users:read');
    const token = await tokenOf(machine);
    const [head = '', body = '', signature = ''] = token.split('.');
    const forged = (claims: object) =>
      `${head}.${Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(body, 'base64url').toString()), ...claims })).toString('base64url')}.${signature}`;
    const own = await generateKeyPair('ES256');
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
    const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString());
    const header = { alg: 'ES256', typ: 'at+jwt', kid };
    const selfMade = await new SignJWT(claims).setProtectedHeader(header).sign(own.privateKey);
    const jwk = await exportJWK(own.publicKey);
    const withJwk = await new SignJWT(claims).setProtectedHeader({ ...header, jwk }).sign(own.privateKey);
    const none = `${Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt', kid })).toString('base64url')}.${body}.`;
    const hmac = await new SignJWT(claims)
      .setProtectedHeader({ ...header, alg: 'HS256' })
      .sign(new TextEncoder().encode(JSON.stringify(jwk).padEnd(64)));
    const { client } = await app.make.client(project);
    const party = partyAt(app, project, client);
    await party.signIn(user);
    const { access_token, id_token } = await party.tokens();
    const api = await apiOf(app, project);
    await app.services.apis.grant(machine.client, api.id, { scopes: ['read'], introspects: false }, system);
    const forApi = await tokenOf(machine, { resource: api.identifier });
    const wrong = {
      selfMade,
      withJwk,
      none,
      hmac,
      scope: forged({ scope: 'users:write' }),
      subject: forged({ sub: client.id }),
      truncated: token.slice(0, -1),
      access_token,
      id_token,
      forApi,
    };
    for (const [name, one] of Object.entries(wrong)) {
      expect([name, (await administer(app, one, readUser())).status]).toEqual([name, 401]);
    }
    expect((await administer(app, token, readUser())).status).toBe(200);
    app.clock.turn(900);
    expect((await administer(app, token, readUser())).status).toBe(401);
  });

  it('a token of a process whose clock is far ahead, and accepts a small skew', async () => {
    const machine = await withScopes('users:read');
    app.clock.turn(4);
    const soon = await tokenOf(machine);
    app.clock.turn(-4);
    expect((await administer(app, soon, readUser())).status).toBe(200);
    app.clock.turn(60);
    const later = await tokenOf(machine);
    app.clock.turn(-60);
    expect((await administer(app, later, readUser())).status).toBe(401);
  });

  it('to be an API’s identifier or to be granted in the console’s project', async () => {
    const machine = await machineOf(app, project);
    expect((await ask(machine, { resource: `${app.url}/admin` })).status).toBe(400);
    const console = (await app.services.seed.create({ demo: false })).console;
    await expect(machineOf(app, console, { adminScopes: ['users:read'] })).rejects.toMatchObject({
      problem: { field: 'adminScopes' },
    });
  });
});

it('every scope has operations, no reading scope changes anything, and none is for owners or credentials', () => {
  const schema = adminSchema();
  const rules = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    Object.values((type as GraphQLObjectType).getFields()).map((field) => ({
      name: `${type?.name}.${field.name}`,
      ...operationRuleOf(type as GraphQLObjectType, field as GraphQLField<unknown, unknown>),
    })),
  );
  // A directory has no operations.
  const used = adminScopes.filter((scope) => rules.some((rule) => scopesFor(rule).includes(scope)));
  expect(used).toEqual(adminScopes.filter((scope) => scope !== 'scim'));
  // The rest is in permissions.txt, which a review shows.
  const closed = rules.filter((rule) => scopesFor(rule).length === 0).map(({ name }) => name);
  const credentials = ['issueAdminToken', 'revokeAdminToken', 'grantRole', 'revokeRole', 'issueScimToken'];
  // Addresses that contain tokens of receivers.
  const addresses = ['Query.webhookUrl', 'Query.logStreamTarget'];
  expect(closed).toEqual(expect.arrayContaining([...credentials.map((name) => `Mutation.${name}`), ...addresses]));
  const writes = rules.filter(
    (rule) => rule.name.startsWith('Mutation.') && scopesFor(rule).some((scope) => !scope.endsWith(':write')),
  );
  expect(writes).toEqual([]);
  expect(rules.filter((rule) => rule.role === 'owner' && scopesFor(rule).length > 0)).toEqual([]);
});
