/**
 * Identity assertions that a project issues (draft-ietf-oauth-identity-assertion-authz-grant sections 3 and 4.3, RFC 8693,
 * decisions/0425), and the whole way between two projects.
 */
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorizationParameters, locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { dpopKey } from '../../test/dpop.ts';
import { apiOf, basic, type Machine, orders, send } from '../../test/machine.ts';
import { type Place, Places } from '../../test/organizations.ts';
import { partyAt } from '../../test/project-issuer.ts';
import type { RelyingParty } from '../../test/relying-party.ts';
import { changed, rows } from '../../test/rows.ts';
import { system } from '../domain/kernel/actor.ts';
import { type GrantType, grantTypeNames } from '../domain/kernel/openid.ts';
import { problemOf } from '../domain/kernel/problem.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import type { User } from '../domain/users/user.entity.ts';
import { valuesOf } from '../domain/users/user-record.ts';

type Json = Record<string, unknown>;
type Form = Record<string, string | string[]>;
interface Tokens extends Json {
  status: number;
  error?: string;
  id_token: string;
  access_token: string;
  refresh_token: string;
}

const idJag = 'urn:ietf:params:oauth:token-type:id-jag';
const idTokenType = 'urn:ietf:params:oauth:token-type:id_token';
const refreshTokenType = 'urn:ietf:params:oauth:token-type:refresh_token';

let app: TestApp;
/** The company: its identity provider, an application there, and one of its people. */
let company: Project;
let wiki: Machine;
let user: User;
let party: RelyingParty;
/** The vendor of an API, where the wiki has another client_id. */
let vendor: Project;
let agent: Machine;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  [company, vendor] = [await app.make.project(), await app.make.project()];
  user = await app.make.user(company);
  agent = await application(vendor, ['jwt_bearer']);
  const api = await apiOf(app, vendor);
  await app.services.apis.grant(agent.client, api.id, { scopes: ['read', 'write'], introspects: true }, system);
  wiki = await application(company, ['token_exchange', 'refresh_token']);
  await set({ crossAppAccess: [server()] });
  party = partyAt(app, company, wiki.client);
});

const server = (over: Json = {}) => ({
  ...{ audience: agent.issuer, clientId: agent.client.id, scopes: ['read', 'write'], resources: [orders] },
  ...over,
});
const set = async (settings: Json) => app.services.clients.update(wiki.client, settings, system);

async function application(project: Project, grantTypes: GrantType[], settings: Json = {}): Promise<Machine> {
  const all = { tokenEndpointAuthMethod: 'client_secret_basic' as const, grantTypes, ...settings };
  const { client, clientSecret } = await app.make.client(project, all);
  return { app, client, secret: clientSecret ?? '', issuer: partyAt(app, project, client).issuer };
}

const answerOf = async (response: Response) => ({ ...((await response.json()) as Tokens), status: response.status });

/** The tokens of a sign-in of the user at the wiki. */
async function signIn(scope = 'openid email', headers: Record<string, string> = {}, more: Record<string, string> = {}) {
  await party.signIn(user);
  const query = new URLSearchParams(authorizationParameters(wiki.client.id, party.proof.challenge, { scope, ...more }));
  const answer = locationOf(await party.browser.get(`${party.issuer}/authorize?${query}`));
  const code = answer.searchParams.get('code') ?? '';
  return answerOf(await party.exchange(code, { client_id: undefined }, { ...basic(wiki), ...headers }));
}

async function ask(subject: string, form: Form = {}, by = wiki, headers: Record<string, string> = {}): Promise<Tokens> {
  const request = { grant_type: grantTypeNames.token_exchange, requested_token_type: idJag, audience: agent.issuer };
  const all = { ...request, subject_token: subject, subject_token_type: idTokenType, ...form };
  return answerOf(await send(by, '/oauth2/token', all, { ...basic(by), ...headers }));
}

const present = async (assertion: string, by = agent) =>
  answerOf(await send(by, '/oauth2/token', { grant_type: grantTypeNames.jwt_bearer, assertion }));
const events = (project: Project, type: string) =>
  rows<{ detail: Json; subject_id: string }>(
    app.services.db,
    'select detail, subject_id from audit_log where project_id = ? and type = ? order by at, id',
    [project.id, type],
  );
const lastFault = async () => (await events(company, 'token.refused')).at(-1)?.detail['fault'];

describe('an identity assertion is issued', () => {
  it('for an ID token, with its claims, for the server and client that the settings name (sections 3.1 and 4.3.3)', async () => {
    const { id_token: idToken } = await signIn();
    const answer = await ask(idToken, { scope: 'read', resource: orders });
    expect(answer).toEqual({
      ...{ status: 200, access_token: expect.any(String), issued_token_type: idJag },
      ...{ token_type: 'N_A', expires_in: 300, scope: 'read' },
    });
    expect(decodeProtectedHeader(answer.access_token)).toMatchObject({ typ: 'oauth-id-jag+jwt', alg: 'ES256' });
    const claims = decodeJwt(answer.access_token);
    const { auth_time, acr, amr } = decodeJwt(idToken);
    expect(claims).toEqual({
      ...{ iss: wiki.issuer, sub: user.id, aud: agent.issuer, client_id: agent.client.id, resource: orders },
      ...{ scope: 'read', auth_time, acr, amr, email: user.email, email_verified: true },
      ...{ jti: expect.any(String), iat: expect.any(Number), exp: (claims.iat ?? 0) + 300 },
    });
    const [event] = await events(company, 'assertion.issued');
    expect(event).toMatchObject({ subject_id: user.id });
    expect(event?.detail).toEqual({ audience: agent.issuer, resources: [orders], scope: 'read' });
  });

  it('for a refresh token, which stays as it is (section 4.3.2)', async () => {
    const { refresh_token: refreshToken } = await signIn('openid');
    const asked = { subject_token_type: refreshTokenType };
    const answer = await ask(refreshToken, asked);
    expect(decodeJwt(answer.access_token)).toMatchObject({ sub: user.id, scope: 'read write', resource: orders });
    // The application was not granted the address.
    expect(decodeJwt(answer.access_token)).not.toHaveProperty('email');
    expect(await ask(refreshToken, asked)).toMatchObject({ status: 200 });
    const renewed = await answerOf(
      await send(wiki, '/oauth2/token', { grant_type: 'refresh_token', refresh_token: refreshToken }),
    );
    expect(renewed.status).toBe(200);
    expect(await ask(renewed.refresh_token, asked)).toMatchObject({ status: 200 });
  });

  it('without scope and API for a server that has none', async () => {
    await set({ crossAppAccess: [server({ scopes: [], resources: [] })] });
    const { access_token: assertion, ...answer } = await ask((await signIn()).id_token);
    expect(answer).not.toHaveProperty('scope');
    expect(decodeJwt(assertion)).not.toHaveProperty('scope');
    expect(decodeJwt(assertion)).not.toHaveProperty('resource');
  });

  it('bound to the key of a proof (section 8.6.1)', async () => {
    const [key, other] = [await dpopKey(app.clock), await dpopKey(app.clock)];
    const url = `${wiki.issuer}/oauth2/token`;
    const { id_token: idToken } = await signIn();
    const { access_token: assertion } = await ask(idToken, {}, wiki, { DPoP: await key.proof({ url }) });
    expect(decodeJwt(assertion)['cnf']).toEqual({ jkt: key.jkt });
    const bound = await signIn('openid', { DPoP: await key.proof({ url }) });
    expect(await ask(bound.id_token)).toMatchObject({ error: 'invalid_request' });
    expect(await lastFault()).toBe('missing-proof');
    expect(await ask(bound.id_token, {}, wiki, { DPoP: await other.proof({ url }) })).toMatchObject({ status: 400 });
    expect(await lastFault()).toBe('wrong-proof-key');
    expect(await ask(bound.id_token, {}, wiki, { DPoP: await key.proof({ url }) })).toMatchObject({ status: 200 });
  });

  it('and announced, as its acceptance is (section 7), at the issuers of projects alone', async () => {
    const read = async (issuer: string) =>
      (await (await fetch(`${issuer}/.well-known/openid-configuration`)).json()) as Record<string, string[]>;
    expect(await read(wiki.issuer)).toMatchObject({
      identity_chaining_requested_token_types_supported: [idJag],
      authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
      grant_types_supported: expect.arrayContaining([grantTypeNames.jwt_bearer]),
    });
    const base = await read(app.url);
    expect(base['grant_types_supported']).toEqual(['authorization_code']);
    expect(base).not.toHaveProperty('authorization_grant_profiles_supported');
  });
});

describe('an identity assertion is not issued', () => {
  const invalid = 'invalid_request';

  it.each<[string, error: string, fault: string, attempt: (tokens: Tokens) => Promise<Tokens>]>([
    ['text', invalid, 'malformed', () => ask('x')],
    ['an access token', invalid, 'malformed', ({ access_token }) => ask(access_token)],
    [
      'an ID token of another application',
      invalid,
      'malformed',
      async ({ id_token }) => ask(id_token, {}, await other()),
    ],
    [
      'a refresh token of another application',
      ...([invalid, 'wrong-client'] as const),
      async ({ refresh_token }) => ask(refresh_token, { subject_token_type: refreshTokenType }, await other()),
    ],
    [
      'an ID token that has expired',
      ...([invalid, 'malformed'] as const),
      async ({ id_token }) => {
        app.clock.turn(400);
        return ask(id_token);
      },
    ],
    [
      'another server',
      ...(['invalid_target', 'no-cross-app-access'] as const),
      ({ id_token }) => ask(id_token, { audience: 'https://other.example.com' }),
    ],
    [
      'another API',
      ...(['invalid_target', 'target'] as const),
      ({ id_token }) => ask(id_token, { resource: 'https://other.example.com' }),
    ],
    ['more scopes', 'invalid_scope', 'scope', ({ id_token }) => ask(id_token, { scope: 'read delete' })],
    [
      'a third-party application',
      ...([invalid, 'third-party'] as const),
      async ({ id_token }) => {
        await set({ thirdParty: true });
        return ask(id_token);
      },
    ],
    [
      'an application that the user may not use',
      ...([invalid, 'no-access'] as const),
      async ({ id_token }) => {
        await set({ access: 'assigned' });
        return ask(id_token);
      },
    ],
    [
      'a sign-in that does not meet the policy of the application',
      ...([invalid, 'policy'] as const),
      async ({ id_token }) => {
        await set({ passkeyRequired: true });
        return ask(id_token);
      },
    ],
    [
      'a suspended user',
      ...([invalid, 'user'] as const),
      async ({ id_token }) => {
        await app.services.accounts.change(company.id, user.id, (now) => ({ ...valuesOf(now), active: false }), system);
        return ask(id_token);
      },
    ],
    [
      'a session that has ended',
      ...([invalid, 'session-ended'] as const),
      async ({ id_token }) => {
        await app.services.logout.endSession(keyIn(company.id, String(decodeJwt(id_token)['sid'])), system);
        return ask(id_token);
      },
    ],
    [
      'a refresh token that was revoked',
      ...([invalid, 'revoked'] as const),
      async ({ refresh_token }) => {
        await send(wiki, '/oauth2/revoke', { token: refresh_token });
        return ask(refresh_token, { subject_token_type: refreshTokenType });
      },
    ],
  ])('for %s (section 4.3.2)', async (_name, error, fault, attempt) => {
    const tokens = await signIn();
    expect(await attempt(tokens)).toMatchObject({ status: 400, error });
    expect(await lastFault()).toBe(fault);
    expect(await events(company, 'assertion.issued')).toEqual([]);
  });

  const other = async () => application(company, ['token_exchange', 'refresh_token'], { crossAppAccess: [server()] });

  it('for an ID token of an impersonation: the token at the other server would not name the admin (decisions/0422)', async () => {
    const { id_token: idToken } = await signIn();
    const act = { iss: app.url, sub: 'admin' };
    const impersonation = { adminId: user.id, act, reason: 'x', clientId: wiki.client.id, organizationId: null };
    const sid = String(decodeJwt(idToken)['sid']);
    await changed(app.services.db, 'update sessions set impersonation = ?::jsonb where id = ?', [
      JSON.stringify(impersonation),
      sid,
    ]);
    expect(await ask(idToken)).toMatchObject({ status: 400, error: invalid });
    expect(await lastFault()).toBe('unknown');
    expect(await events(company, 'assertion.issued')).toEqual([]);
  });

  it('for a refresh token that was used and replaced twice, whose grant ends (RFC 9700 section 4.14.2)', async () => {
    const { refresh_token: first } = await signIn();
    const refresh = async (token: string) =>
      (await answerOf(await send(wiki, '/oauth2/token', { grant_type: 'refresh_token', refresh_token: token })))
        .refresh_token;
    const third = await refresh(await refresh(first));
    expect(await ask(first, { subject_token_type: refreshTokenType })).toMatchObject({ error: invalid });
    expect(await lastFault()).toBe('used');
    expect(await ask(third, { subject_token_type: refreshTokenType })).toMatchObject({ error: invalid });
    expect(await lastFault()).toBe('revoked');
  });

  it.each<[string, Form, string]>([
    ['no subject token', { subject_token: [] }, invalid],
    ['no type of the subject token', { subject_token_type: [] }, invalid],
    ['an access token', { subject_token_type: 'urn:ietf:params:oauth:token-type:access_token' }, invalid],
    ['an actor token', { actor_token: 'x', actor_token_type: idTokenType }, invalid],
    ['details', { authorization_details: '[]' }, invalid],
    ['an organization', { organization: 'acme' }, invalid],
    ['no audience', { audience: [] }, 'invalid_target'],
    ['two audiences', { audience: ['https://a.example.com', 'https://b.example.com'] }, 'invalid_request'],
    ['an empty scope', { scope: ' ' }, 'invalid_scope'],
  ])('for a request with %s (section 4.3)', async (_name, form, error) => {
    expect(await ask((await signIn()).id_token, form)).toMatchObject({ status: 400, error });
  });

  it('to an application without the grant, or without a refresh grant for a refresh token', async () => {
    const tokens = await signIn();
    await set({ grantTypes: ['token_exchange'] });
    const asked = { subject_token_type: refreshTokenType };
    expect(await ask(tokens.refresh_token, asked)).toMatchObject({ error: 'unauthorized_client' });
    await set({ grantTypes: [] });
    expect(await ask(tokens.id_token)).toMatchObject({ error: 'unauthorized_client' });
  });

  it('to a member whose membership has ended', async () => {
    await app.services.projects.update(company.id, { organizationsEnabled: true }, system);
    const places = new Places(app, company);
    const north: Place = await places.organization('north');
    await places.join(north, user);
    const { id_token: idToken } = await signIn('openid', {}, { organization: 'north' });
    expect(decodeJwt((await ask(idToken)).access_token)['org_id']).toBe(north.id);
    await places.set(north, 'state', 'suspended');
    expect(await ask(idToken)).toMatchObject({ error: invalid });
    expect(await lastFault()).toBe('no-access');
  });
});

describe('the settings of an application', () => {
  it.each<[string, unknown, string]>([
    ['no list', {}, 'crossAppAccess'],
    ['no issuer', [{ audience: 'no issuer', clientId: 'x' }], 'crossAppAccess[0].audience'],
    ['http', [{ audience: 'http://other.example.com', clientId: 'x' }], 'crossAppAccess[0].audience'],
    ['a query', [{ audience: 'https://other.example.com?x', clientId: 'x' }], 'crossAppAccess[0].audience'],
    ['no client', [{ audience: 'https://other.example.com' }], 'crossAppAccess[0].clientId'],
    [
      'spaces in a scope',
      [{ audience: 'https://other.example.com', clientId: 'x', scopes: ['a b'] }],
      'crossAppAccess[0].scopes',
    ],
    [
      'a fragment',
      [{ audience: 'https://other.example.com', clientId: 'x', resources: ['https://x#y'] }],
      'crossAppAccess[0].resources',
    ],
    ['another name', [{ audience: 'https://other.example.com', clientId: 'x', scope: [] }], 'crossAppAccess[0]'],
    [
      'a server twice',
      [1, 2].map((at) => ({ audience: 'https://other.example.com', clientId: `x${at}` })),
      'crossAppAccess[1].audience',
    ],
  ])('have no server with %s', async (_name, crossAppAccess, field) => {
    expect(await problemOf(set({ crossAppAccess }))).toMatchObject({ code: 'invalid', field });
  });
});

describe('between two projects', () => {
  beforeEach(async () => {
    const oidc = { issuer: wiki.issuer, clientId: 'vendor', clientSecret: 'a secret of the company' };
    const input = { projectId: vendor.id, kind: 'oidc' as const, preset: 'generic', name: 'Company', oidc };
    const { connections, db, identities } = app.services;
    const created = await connections.create({ ...input, acceptsAssertions: true }, system);
    const connection = await connections.setState(created, 'enabled', system);
    const said = { issuer: wiki.issuer, subject: user.id, email: null, emailVerified: false, profile: {} };
    const person = { ...said, amr: [], acr: null, authTime: null };
    colleague = await app.make.user(vendor);
    await db.transaction((em) => identities.link(em, connection, colleague, person, system));
  });
  let colleague: User;

  it('a person of the company reaches the API of the vendor, without a page', async () => {
    const { access_token: assertion } = await ask((await signIn()).id_token, { scope: 'read', resource: orders });
    const answer = await present(assertion);
    expect(answer).toMatchObject({ status: 200, scope: 'read', resource: orders });
    expect(decodeJwt(answer.access_token)).toMatchObject({ iss: agent.issuer, sub: colleague.id, aud: orders });
    expect(await present(assertion)).toMatchObject({ error: 'invalid_grant' });
  });

  it('neither the assertion nor an ID token is of use elsewhere', async () => {
    const { id_token: idToken } = await signIn();
    const { access_token: assertion } = await ask(idToken);
    // No issuer takes its own assertion (section 8.3).
    await set({ grantTypes: ['token_exchange', 'jwt_bearer'] });
    expect(await present(assertion, wiki)).toMatchObject({ error: 'invalid_grant' });
    expect(await lastFault()).toBe('untrusted-issuer');
    expect(await present(idToken)).toMatchObject({ error: 'invalid_grant' });
    expect(await ask(assertion)).toMatchObject({ error: 'invalid_request' });
    const userInfo = await fetch(`${wiki.issuer}/userinfo`, { headers: { Authorization: `Bearer ${assertion}` } });
    expect(userInfo.status).toBe(401);
    const introspected = await send(wiki, '/oauth2/introspect', { token: assertion });
    expect(await introspected.json()).toEqual({ active: false });
  });
});
