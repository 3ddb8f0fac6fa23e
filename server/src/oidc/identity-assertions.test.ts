/**
 * Identity assertions of other issuers as grants (draft-ietf-oauth-identity-assertion-authz-grant sections 3 and 4.4, RFC 7523 section 3,
 * decisions/0425): what a project accepts, and what it refuses.
 */
import { decodeJwt, generateKeyPair } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildSibling, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { dpopKey } from '../../test/dpop.ts';
import { apiOf, basic, type Machine, orders, send } from '../../test/machine.ts';
import { type Place, Places } from '../../test/organizations.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { changed, rows } from '../../test/rows.ts';
import { UpstreamProvider } from '../../test/upstream-provider.ts';
import type { Connection } from '../domain/connections/connection.entity.ts';
import type { ConnectionChange } from '../domain/connections/connections.ts';
import { newProfile } from '../domain/connections/profile.ts';
import { system } from '../domain/kernel/actor.ts';
import { grantTypeNames } from '../domain/kernel/openid.ts';
import { problemOf } from '../domain/kernel/problem.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import type { User } from '../domain/users/user.entity.ts';
import { valuesOf } from '../domain/users/user-record.ts';

type Json = Record<string, unknown>;
interface Answer extends Json {
  status: number;
  error?: string;
  access_token: string;
}

let app: TestApp;
let provider: UpstreamProvider;
let project: Project;
let user: User;
let connection: Connection;
let agent: Machine;
let count = 0;

beforeAll(async () => {
  app = await buildTestApp();
  provider = await UpstreamProvider.open(() => app.clock.now());
});
afterAll(async () => {
  await provider.close();
  await app.close();
});
beforeEach(async () => {
  provider.lies = {};
  project = await app.make.project();
  user = await app.make.user(project);
  connection = await connect();
  await link(user, 'ada');
  agent = await application();
  const api = await apiOf(app, project);
  await app.services.apis.grant(agent.client, api.id, { scopes: ['read', 'write'], introspects: true }, system);
});

async function connect(organizationId?: string, of = project, over: ConnectionChange = {}): Promise<Connection> {
  const oidc = { issuer: provider.issuer, clientId: 'latchkey', clientSecret: 'a secret of the provider' };
  const input = { projectId: of.id, kind: 'oidc' as const, preset: 'generic', name: 'Acme', oidc };
  const place = organizationId === undefined ? {} : { organizationId };
  const created = await app.services.connections.create(
    { ...input, ...place, acceptsAssertions: true, ...over },
    system,
  );
  return app.services.connections.setState(created, 'enabled', system);
}

async function application(settings: Json = {}): Promise<Machine> {
  const all = {
    tokenEndpointAuthMethod: 'client_secret_basic' as const,
    grantTypes: ['jwt_bearer' as const],
    ...settings,
  };
  const { client, clientSecret } = await app.make.client(project, all);
  return { app, client, secret: clientSecret ?? '', issuer: partyAt(app, project, client).issuer };
}

/** The link that a sign-in by the connection has established. */
async function link(person: User, subject: string, at = connection): Promise<void> {
  const { db, identities } = app.services;
  const said = { issuer: provider.issuer, subject, email: null, emailVerified: false, profile: {} };
  const linked = { ...said, amr: [], acr: null, authTime: null };
  await db.transaction((em) => identities.link(em, at, person, linked, system));
}

const seconds = () => Math.floor(app.clock.now().getTime() / 1000);
const honest = (): Json => ({
  ...{ iss: provider.issuer, sub: 'ada', aud: agent.issuer, client_id: agent.client.id, jti: `assertion-${++count}` },
  ...{ iat: seconds(), exp: seconds() + 300, resource: orders, scope: 'read', auth_time: seconds() - 60, amr: ['pwd'] },
});
const assertion = (claims: Json = {}, header: Json = {}) =>
  provider.sign({ typ: 'oauth-id-jag+jwt', ...header }, { ...honest(), ...claims });

async function present(
  text: string,
  form: Record<string, string | string[]> = {},
  headers: Record<string, string> = {},
) {
  const all = { grant_type: grantTypeNames.jwt_bearer, assertion: text, ...form };
  const response = await send(agent, '/oauth2/token', all, { ...basic(agent), ...headers });
  return { ...((await response.json()) as Answer), status: response.status };
}

const introspect = async (token: string) =>
  (await (await send(agent, '/oauth2/introspect', { token })).json()) as Record<string, unknown>;
const set = (settings: Json) => app.services.clients.update(agent.client, settings, system);
const events = (type: string) =>
  rows<{ detail: Json; subject_id: string }>(
    app.services.db,
    'select detail, subject_id from audit_log where project_id = ? and type = ? order by at, id',
    [project.id, type],
  );
const lastFault = async () => (await events('token.refused')).at(-1)?.detail['fault'];
/** What a refusal may not change. */
const tokens = () =>
  rows(
    app.services.db,
    'select id from authorization_codes where project_id = ? union all select client_id from used_assertions where project_id = ?',
    [project.id, project.id],
  );

async function refusal(attempt: () => Promise<Answer>) {
  const before = await tokens();
  const { status, error } = await attempt();
  expect(await tokens()).toEqual(before);
  return { status, error, fault: await lastFault() };
}
const refused = (fault: string, error = 'invalid_grant') => ({ status: 400, error, fault });

describe('an identity assertion', () => {
  it('gives a token of the user whom a sign-in linked to its subject (sections 4.4.2 and 5.1)', async () => {
    const answer = await present(await assertion());
    expect(answer).toEqual({
      ...{ status: 200, access_token: expect.any(String), token_type: 'Bearer', expires_in: 900 },
      ...{ scope: 'read', resource: orders },
    });
    expect(decodeJwt(answer.access_token)).toMatchObject({
      ...{ iss: agent.issuer, sub: user.id, aud: orders, client_id: agent.client.id, scope: 'read' },
    });
    expect(await introspect(answer.access_token)).toMatchObject({ active: true, sub: user.id, scope: 'read' });
    const [event] = await events('assertion.accepted');
    expect(event).toMatchObject({ subject_id: user.id });
    expect(event?.detail).toEqual({ issuer: provider.issuer, connectionId: connection.id, api: orders, scope: 'read' });
  });

  it('may name its audience in a list of one, and no scope or API: those of the application (section 4.4.1)', async () => {
    expect(await present(await assertion({ aud: [agent.issuer] }))).toMatchObject({ status: 200 });
    const bare = { scope: undefined, resource: undefined };
    expect(await present(await assertion(bare))).toMatchObject({ scope: 'read write', resource: orders });
    expect(await present(await assertion(bare), { scope: 'write' })).toMatchObject({ scope: 'write' });
    const several = { resource: ['https://other.example.com', orders] };
    expect(await present(await assertion(several), { resource: orders })).toMatchObject({ resource: orders });
  });

  it('gives a part of its scope, and no refresh token (sections 4.4.1 and 4.4.3)', async () => {
    const answer = await present(await assertion({ scope: 'write read delete' }), { scope: 'read' });
    expect(answer).toMatchObject({ status: 200, scope: 'read' });
    expect(answer).not.toHaveProperty('refresh_token');
    expect(await present(await assertion({ scope: 'delete write' }))).toMatchObject({ scope: 'write' });
  });

  it('that is bound needs a proof of its key, which binds the token (section 8.6.1)', async () => {
    const [key, other] = [await dpopKey(app.clock), await dpopKey(app.clock)];
    const url = `${agent.issuer}/oauth2/token`;
    const cnf = { cnf: { jkt: key.jkt } };
    const text = await assertion(cnf);
    expect(await refusal(() => present(text))).toEqual(refused('missing-proof'));
    expect((await present(text, {}, { DPoP: await other.proof({ url }) })).error).toBe('invalid_grant');
    expect(await lastFault()).toBe('wrong-proof-key');
    const answer = await present(text, {}, { DPoP: await key.proof({ url }) });
    expect(answer).toMatchObject({ status: 200, token_type: 'DPoP' });
    expect(decodeJwt(answer.access_token)).toMatchObject(cnf);
    const unbound = await present(await assertion(), {}, { DPoP: await other.proof({ url }) });
    expect(decodeJwt(unbound.access_token)).toMatchObject({ cnf: { jkt: other.jkt } });
  });

  it('is accepted once, also by 50 requests at the same time to two processes (RFC 7523 section 3)', async () => {
    const text = await assertion();
    const there = await buildSibling(app);
    const form = { grant_type: grantTypeNames.jwt_bearer, assertion: text };
    const elsewhere = { ...agent, issuer: agent.issuer.replace(app.url, there.url) };
    const both = [agent, elsewhere, agent, elsewhere, agent].flatMap((at) => Array<Machine>(10).fill(at));
    const answers = await Promise.all(both.map((at) => send(at, '/oauth2/token', form)));
    await there.close();
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(49).fill(400)]);
    expect(await refusal(() => present(text))).toEqual(refused('used'));
    // Of another issuer or application, the same `jti` is another one.
    const jti = String(decodeJwt(text).jti);
    const first = agent;
    agent = await application();
    const [api] = await app.services.apis.list(app.services.db.reader(), project.id);
    await app.services.apis.grant(agent.client, api?.id ?? '', { scopes: ['read'], introspects: false }, system);
    expect(await present(await assertion({ jti }))).toMatchObject({ status: 200 });
    agent = first;
  });
});

describe('an identity assertion is refused', () => {
  it.each<[string, fault: string, claims: () => Json, header?: Json]>([
    ['for another audience', 'wrong-audience', () => ({ aud: app.url })],
    ['for the token endpoint', 'wrong-audience', () => ({ aud: `${agent.issuer}/oauth2/token` })],
    ['for two audiences', 'wrong-audience', () => ({ aud: [agent.issuer, 'https://other.example.com'] })],
    ['without audience', 'wrong-audience', () => ({ aud: undefined })],
    ['of another application', 'wrong-client', () => ({ client_id: 'other' })],
    ['without client_id', 'wrong-client', () => ({ client_id: undefined })],
    ['of an untrusted issuer', 'untrusted-issuer', () => ({ iss: 'https://untrusted.example.com' })],
    ['without issuer', 'untrusted-issuer', () => ({ iss: undefined })],
    ['of the project itself', 'untrusted-issuer', () => ({ iss: agent.issuer })],
    ['without subject', 'malformed', () => ({ sub: undefined })],
    ['with a subject that is no text', 'malformed', () => ({ sub: 7 })],
    ['without jti', 'malformed', () => ({ jti: undefined })],
    ['without exp', 'malformed', () => ({ exp: undefined })],
    ['without iat', 'malformed', () => ({ iat: undefined })],
    ['after its end', 'expired', () => ({ iat: seconds() - 400, exp: seconds() - 100 })],
    ['before its start', 'expired', () => ({ nbf: seconds() + 100 })],
    ['issued in the future', 'expired', () => ({ iat: seconds() + 100, exp: seconds() + 200 })],
    ['with a long life', 'expired', () => ({ exp: seconds() + 7200 })],
    ['as an ID token', 'malformed', () => ({}), { typ: 'JWT' }],
    ['as an access token', 'malformed', () => ({}), { typ: 'at+jwt' }],
    ['without typ', 'malformed', () => ({}), { typ: undefined }],
    ['with a key of its own', 'signature', () => ({}), { jku: 'https://attacker.example.com/keys' }],
    ['of an unknown key', 'signature', () => ({}), { kid: 'other' }],
    ['with details beside its scopes', 'unsupported-claim', () => ({ authorization_details: [{ type: 'x' }] })],
    ['of an actor', 'unsupported-claim', () => ({ act: { sub: 'agent' } })],
    ['of one of several tenants', 'unsupported-claim', () => ({ tenant: 'acme' })],
    ['with another confirmation', 'unsupported-claim', () => ({ cnf: { 'x5t#S256': 'x' } })],
    ['of an unknown subject', 'no-account', () => ({ sub: 'eve' })],
    ['with a scope that is no text', 'malformed', () => ({ scope: ['read'] })],
    ['with an API that is no text', 'malformed', () => ({ resource: [7] })],
  ])('%s (section 4.4.1)', async (_name, fault, claims, header) => {
    const text = await assertion(claims(), header);
    expect(await refusal(() => present(text))).toEqual(refused(fault));
  });

  it.each<[string, fault: string, error: string, Json, form?: Record<string, string | string[]>]>([
    ['more scopes than it has', 'scope', 'invalid_scope', {}, { scope: 'read write' }],
    ['only scopes that the application lacks', 'scope', 'invalid_scope', { scope: 'delete' }],
    [
      'another API than it names',
      'target',
      'invalid_target',
      { resource: 'https://other.example.com' },
      { resource: orders },
    ],
    [
      'an API that the application lacks',
      'api-not-granted',
      'invalid_target',
      { resource: 'https://other.example.com' },
    ],
  ])('for %s', async (_name, fault, error, claims, form) => {
    const text = await assertion(claims);
    expect(await refusal(() => present(text, form))).toEqual(refused(fault, error));
  });

  it.each<[string, () => Promise<string>]>([
    ['text', async () => 'x'],
    ['two megabytes', async () => `${'a'.repeat(20_000)}.a.a`],
    [
      'another key with the same kid',
      async () =>
        provider.sign({ typ: 'oauth-id-jag+jwt' }, honest(), { ...(await generateKeyPair('ES256')), kid: 'other' }),
    ],
  ])('if it is %s', async (_name, text) => {
    const made = await text();
    expect((await refusal(() => present(made))).error).toBe('invalid_grant');
  });

  it('with a bare address: only the subject counts at a connection of the project', async () => {
    const person = { sub: 'eve', email: user.email, email_verified: true };
    const text = await assertion(person);
    expect(await refusal(() => present(text))).toEqual(refused('no-account'));
  });

  it.each<[string, fault: string, end: () => Promise<unknown>]>([
    ['a suspended user', 'user', () => deactivate()],
    [
      'a connection that is disabled',
      'untrusted-issuer',
      () => app.services.connections.setState(connection, 'disabled', system),
    ],
    ['a connection that no longer accepts', 'untrusted-issuer', () => change({ acceptsAssertions: false })],
    [
      'a connection of another issuer now',
      'untrusted-issuer',
      () => change({ oidc: { issuer: 'https://other.example.com', clientSecret: 'x' } }),
    ],
    ['a third-party application', 'third-party', () => set({ thirdParty: true })],
    ['a user without access to the application', 'no-access', () => set({ access: 'assigned' })],
    ['an application that demands passkeys', 'policy', () => set({ passkeyRequired: true })],
    [
      'a project that demands a second factor',
      'policy',
      () => app.services.projects.update(project.id, { mfaPolicy: 'required' }, system),
    ],
  ])('for %s', async (_name, fault, end) => {
    await end();
    const text = await assertion();
    expect(await refusal(() => present(text))).toEqual(refused(fault));
  });

  const deactivate = () =>
    app.services.accounts.change(project.id, user.id, (now) => ({ ...valuesOf(now), active: false }), system);
  const change = (settings: ConnectionChange) => app.services.connections.update(connection, settings, system);

  it('while the keys of its issuer cannot be read', async () => {
    const honestOne = provider;
    provider = await UpstreamProvider.open(() => app.clock.now());
    await provider.close();
    connection = await connect();
    const text = await assertion();
    expect(await refusal(() => present(text))).toEqual(refused('unreachable'));
    provider = honestOne;
  });

  it('at another project, and at the base issuer', async () => {
    const text = await assertion();
    const first = project;
    project = await app.make.project();
    const elsewhere = await application();
    const sent = await send(elsewhere, '/oauth2/token', { grant_type: grantTypeNames.jwt_bearer, assertion: text });
    expect(await sent.json()).toMatchObject({ error: 'invalid_grant' });
    project = first;
    const form = new URLSearchParams({ grant_type: grantTypeNames.jwt_bearer, assertion: text });
    const base = await fetch(`${app.url}/oauth2/token`, { method: 'POST', body: form, headers: basic(agent) });
    expect(await base.json()).toMatchObject({ error: 'unsupported_grant_type' });
    expect(await present(text)).toMatchObject({ status: 200 });
  });

  it('of an application without the grant, a public one, and without the parameter (section 8.1)', async () => {
    const text = await assertion();
    expect(await present(text, { organization: 'acme' })).toMatchObject({ error: 'invalid_request' });
    expect(await present('', {})).toMatchObject({ error: 'invalid_request' });
    await set({ grantTypes: [] });
    expect(await present(text)).toMatchObject({ error: 'unauthorized_client' });
    const open = application({ tokenEndpointAuthMethod: 'none' });
    expect(await problemOf(open)).toMatchObject({ field: 'grantTypes' });
  });

  it('of two connections with one issuer: only one of a project accepts them', async () => {
    const twice = connect();
    expect(await problemOf(twice)).toMatchObject({ field: 'acceptsAssertions' });
    const other = await connect(undefined, project, { acceptsAssertions: false });
    const on = app.services.connections.update(other, { acceptsAssertions: true }, system);
    expect(await problemOf(on)).toMatchObject({ field: 'acceptsAssertions' });
    expect((await connect(undefined, await app.make.project())).acceptsAssertions).toBe(true);
  });
});

describe('a token of an assertion ends', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['with the connection', () => app.services.connections.setState(connection, 'disabled', system)],
    ['with its acceptance', () => app.services.connections.update(connection, { acceptsAssertions: false }, system)],
    ['with the grant of the application', () => set({ grantTypes: [] })],
    [
      'with the user',
      () => app.services.accounts.change(project.id, user.id, (now) => ({ ...valuesOf(now), active: false }), system),
    ],
    ['with the access of the user', () => set({ access: 'assigned' })],
  ])('%s, at introspection', async (_name, end) => {
    const { access_token: token } = await present(await assertion());
    expect(await introspect(token)).toMatchObject({ active: true });
    await end();
    expect(await introspect(token)).toEqual({ active: false });
  });
});

describe('an assertion of a connection of an organization', () => {
  let places: Places;
  let acme: Place;
  let employee: { id: string; email: string };

  beforeEach(async () => {
    await app.services.connections.remove(connection, system);
    await app.services.projects.update(project.id, { organizationsEnabled: true }, system);
    places = new Places(app, project);
    acme = await places.organization('acme');
    await verify(acme, 'acme.example');
    connection = await connect(acme.id);
    employee = await memberOf(acme, `ada-${++count}@acme.example`);
  });

  const verify = async (place: Place, domain: string) => {
    const { organizationDomains } = app.services;
    return organizationDomains.verify(
      await organizationDomains.add(keyIn(project.id, place.id), domain, system),
      'Test',
      system,
    );
  };
  /** At home there, and a member. */
  const memberOf = async (place: Place, email: string) => {
    const { db, users } = app.services;
    const home = { projectId: project.id, organizationId: place.id };
    const { id } = await db.transaction((em) => users.create(em, home, newProfile(email, {}), 'local', system));
    return { id, email };
  };
  const of = (values: Json) => assertion({ sub: 'new', email: employee.email, ...values });

  it('names the user at home with an address in a verified domain, in the organization', async () => {
    const answer = await present(await of({}));
    expect(decodeJwt(answer.access_token)).toMatchObject({ sub: employee.id, org_id: acme.id });
    expect(await introspect(answer.access_token)).toMatchObject({ active: true, org_id: acme.id });
    // Nothing is linked: the next sign-in does that.
    expect(await rows(app.services.db, 'select id from identities where project_id = ?', [project.id])).toEqual([]);
  });

  it.each<[string, fault: string, () => Promise<Json>]>([
    ['an address that the issuer has not verified', 'no-account', async () => ({ email_verified: false })],
    [
      'an address in another domain',
      'no-account',
      async () => ({ email: (await memberOf(acme, `x-${++count}@other.example`)).email }),
    ],
    ['an address without an account', 'no-account', async () => ({ email: 'without-account@acme.example' })],
    [
      'an address whose user has another subject there',
      'no-account',
      async () => {
        await link((await app.services.users.find(app.services.db.reader(), project.id, employee.id)) as User, 'other');
        return {};
      },
    ],
    [
      'a user at home in another organization',
      'no-account',
      async () => {
        const globex = await places.organization('globex');
        return { email: (await memberOf(globex, `y-${++count}@acme.example`)).email };
      },
    ],
    [
      'a guest, whose subject is linked',
      'no-access',
      async () => {
        await places.join(acme, user);
        await link(user, 'guest');
        return { sub: 'guest' };
      },
    ],
    [
      'a member whose membership has ended',
      'no-access',
      async () => {
        await changed(
          app.services.db,
          "update organization_memberships set state = 'suspended' where project_id = ? and user_id = ?",
          [project.id, employee.id],
        );
        return {};
      },
    ],
    [
      'a suspended organization',
      'untrusted-issuer',
      async () => {
        await places.set(acme, 'state', 'suspended');
        return {};
      },
    ],
    [
      'a project that has no organizations now',
      'untrusted-issuer',
      async () => {
        await app.services.projects.update(project.id, { organizationsEnabled: false }, system);
        return {};
      },
    ],
    [
      'an organization that demands a second factor',
      'policy',
      async () => {
        await places.set(acme, 'mfa_policy', 'required');
        return {};
      },
    ],
  ])('is refused for %s', async (_name, fault, values) => {
    const text = await of(await values());
    expect(await refusal(() => present(text))).toEqual(refused(fault));
  });

  it('gives a token that ends with the membership', async () => {
    const { access_token: token } = await present(await of({}));
    await places.set(acme, 'state', 'suspended');
    expect(await introspect(token)).toEqual({ active: false });
  });

  it('meets the demand of the organization for its connection', async () => {
    await places.set(acme, 'sign_in', 'connection');
    expect(await present(await of({}))).toMatchObject({ status: 200 });
  });
});
