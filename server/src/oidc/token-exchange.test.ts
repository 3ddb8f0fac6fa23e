/** Token exchange at the issuers of projects (RFC 8693, decisions/0410). */
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorizationParameters, locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { DocumentHost } from '../../test/document-host.ts';
import { dpopKey } from '../../test/dpop.ts';
import { Stranger } from '../../test/introduced.ts';
import { apiOf, basic, type Machine, orders, send, tokenOf } from '../../test/machine.ts';
import { Places } from '../../test/organizations.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { changed, rows } from '../../test/rows.ts';
import type { Api } from '../domain/apis/api.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { type GrantType, grantTypeNames } from '../domain/kernel/openid.ts';
import { problemOf } from '../domain/kernel/problem.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import type { User } from '../domain/users/user.entity.ts';
import { valuesOf } from '../domain/users/user-record.ts';

const front = 'https://front.example.com';
const billing = 'https://billing.example.com';
const accessToken = 'urn:ietf:params:oauth:token-type:access_token';

type Form = Record<string, string | string[]>;
interface Answer {
  status: number;
  error?: string;
  access_token: string;
  token_type?: string;
  issued_token_type?: string;
  expires_in: number;
  scope?: string;
}

let app: TestApp;
let project: Project;
let user: User;
let apis: Record<string, Api>;
/** The application of the user, with tokens for the front. */
let web: Machine;
/** The service behind the front, which calls the orders for the user. */
let gateway: Machine;
/** The service behind the orders and the billing. */
let back: Machine;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await app.make.project();
  user = await app.make.user(project);
  apis = {};
  for (const identifier of [front, orders, billing]) apis[identifier] = await apiOf(app, project, identifier);
  for (const identifier of [orders, billing]) await setApi(identifier, { tokenExchange: true });
  [web, gateway, back] = [await service(['refresh_token']), await service(), await service()];
  await grant(web, front, ['read', 'write']);
  await grant(gateway, front, [], true);
  await grant(gateway, orders, ['read']);
  await grant(back, orders, [], true);
  await grant(back, billing, ['read'], true);
});

const setApi = (identifier: string, settings: object) =>
  app.services.apis.update(apis[identifier] as Api, settings, system);
const grant = ({ client }: Machine, identifier: string, scopes: string[], introspects = false) =>
  app.services.apis.grant(client, (apis[identifier] as Api).id, { scopes, introspects }, system);
const set = ({ client }: Machine, settings: object) => app.services.clients.update(client, settings, system);

async function service(
  grantTypes: GrantType[] = ['client_credentials', 'token_exchange'],
  settings: object = {},
): Promise<Machine> {
  const all = { tokenEndpointAuthMethod: 'client_secret_basic' as const, grantTypes, ...settings };
  const { client, clientSecret } = await app.make.client(project, all);
  return { app, client, secret: clientSecret ?? '', issuer: partyAt(app, project, client).issuer };
}

const answerOf = async (response: Response) => ({ ...((await response.json()) as Answer), status: response.status });

/** A token of the user for an API. */
async function tokenFor(
  identifier: string,
  {
    by = web,
    scope = 'read write',
    person = user,
    dpop,
    organization,
  }: {
    by?: Machine;
    scope?: string;
    person?: User;
    dpop?: string;
    organization?: string;
  } = {},
): Promise<string> {
  const party = partyAt(app, project, by.client);
  await party.signIn(person);
  const asked = { scope, resource: identifier, ...(organization && { organization }) };
  const query = new URLSearchParams(authorizationParameters(by.client.id, party.proof.challenge, asked));
  const answer = locationOf(await party.browser.get(`${party.issuer}/authorize?${query}`));
  const headers = { ...basic(by), ...(dpop !== undefined && { DPoP: dpop }) };
  const code = answer.searchParams.get('code') ?? '';
  const response = await party.exchange(code, { client_id: undefined }, headers);
  return (await answerOf(response)).access_token;
}

async function exchange(
  subject: string,
  form: Form = {},
  by = gateway,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const request = { grant_type: grantTypeNames.token_exchange, subject_token: subject, resource: orders };
  const all = { ...request, subject_token_type: accessToken, ...form };
  return answerOf(await send(by, '/oauth2/token', all, { ...basic(by), ...headers }));
}

const introspect = async (token: string) =>
  (await (await send(back, '/oauth2/introspect', { token })).json()) as Record<string, unknown>;
const events = (type: string) =>
  rows<{ detail: Record<string, unknown>; subject_id: string; client_id: string }>(
    app.services.db,
    'select detail, subject_id, client_id from audit_log where project_id = ? and type = ? order by at, id',
    [project.id, type],
  );
const lastFault = async () => (await events('token.refused')).at(-1)?.detail['fault'];

describe('a token exchange (RFC 8693)', () => {
  it('gives a token of the user for another API, and names who acts (sections 2.2.1 and 4.1)', async () => {
    const subject = await tokenFor(front);
    const answer = await exchange(subject);
    expect(answer).toEqual({
      ...{ status: 200, access_token: expect.any(String), issued_token_type: accessToken },
      ...{ token_type: 'Bearer', expires_in: 900, scope: 'read' },
    });
    expect(decodeProtectedHeader(answer.access_token)).toMatchObject({ typ: 'at+jwt', alg: 'ES256' });
    const { id } = gateway.client;
    const act = { sub: id, client_id: id };
    expect(decodeJwt(answer.access_token)).toMatchObject({
      ...{ iss: gateway.issuer, sub: user.id, aud: orders, client_id: id, scope: 'read', act },
    });
    expect(await introspect(answer.access_token)).toMatchObject({ active: true, sub: user.id, client_id: id, act });
    const response = await send(gateway, '/oauth2/token', {
      ...{ grant_type: grantTypeNames.token_exchange, subject_token: subject, subject_token_type: accessToken },
      ...{ resource: orders, requested_token_type: accessToken },
    });
    // RFC 6749 section 5.1.
    expect([response.status, response.headers.get('Cache-Control')]).toEqual([200, 'no-store']);
    const [event] = await events('token.exchanged');
    expect(event).toMatchObject({ subject_id: user.id, client_id: id });
    expect(event?.detail).toEqual({ of: web.client.id, api: orders, scope: 'read', act });
  });

  it('is for the client that obtained the token, too, and takes audience for resource (section 2.1)', async () => {
    await set(web, { grantTypes: ['token_exchange'] });
    await grant(web, orders, ['read', 'write']);
    const subject = await tokenFor(front, { scope: 'write' });
    expect(await exchange(subject, { resource: [], audience: orders }, web)).toMatchObject({ scope: 'write' });
    expect(await exchange(subject, { audience: orders }, web)).toMatchObject({ status: 200 });
    expect(await exchange(subject, { audience: billing }, web)).toMatchObject({ error: 'invalid_target' });
  });

  it('names the user or application of the actor token (section 2.1)', async () => {
    const person = await app.make.user(project);
    const subject = await tokenFor(front);
    const acting = async (actorToken: string) => {
      const form = { actor_token: actorToken, actor_token_type: accessToken };
      return decodeJwt((await exchange(subject, form)).access_token)['act'];
    };
    const { id } = gateway.client;
    expect(await acting(await tokenFor(orders, { by: gateway, person, scope: 'read' }))).toEqual({
      ...{ sub: person.id, client_id: id },
    });
    expect(await acting(await tokenOf(gateway, { resource: orders }))).toEqual({ sub: id, client_id: id });
  });

  it('keeps the chain of those who act, up to three (section 4.1)', async () => {
    const first = await exchange(await tokenFor(front));
    const second = await exchange(first.access_token, { resource: billing }, back);
    expect(decodeJwt(second.access_token)['act']).toEqual({
      ...{ sub: back.client.id, client_id: back.client.id },
      act: { sub: gateway.client.id, client_id: gateway.client.id },
    });
    const [third, fourth] = [await service(), await service()];
    for (const [one, from, to] of [[third, billing, orders] as const, [fourth, orders, billing] as const]) {
      await grant(one, from, [], true);
      await grant(one, to, ['read']);
    }
    const last = await exchange(second.access_token, { resource: orders }, third);
    expect(last.status).toBe(200);
    expect(await exchange(last.access_token, { resource: billing }, fourth)).toMatchObject({
      error: 'invalid_request',
    });
    expect(await lastFault()).toBe('act-depth');
    expect(await exchange(second.access_token, { resource: billing }, back)).toMatchObject({
      error: 'invalid_request',
    });
    expect(await lastFault()).toBe('act-loop');
  });

  it('gives no longer life than the subject token, the actor token or the API have', async () => {
    const subject = await tokenFor(front);
    app.clock.turn(800);
    const actor = { actor_token: await tokenOf(gateway, { resource: orders }), actor_token_type: accessToken };
    for (const form of [{}, actor]) {
      const answer = await exchange(subject, form);
      expect(answer.expires_in).toBeLessThanOrEqual(100);
      expect(decodeJwt(answer.access_token).exp).toBeLessThanOrEqual(decodeJwt(subject).exp ?? 0);
    }
    await setApi(orders, { accessTokenTtlSeconds: 60 });
    const short = { actor_token: await tokenOf(gateway, { resource: orders }), actor_token_type: accessToken };
    app.clock.turn(30);
    expect((await exchange(subject)).expires_in).toBe(60);
    expect((await exchange(subject, short)).expires_in).toBeLessThanOrEqual(30);
    app.clock.turn(60);
    expect(await exchange(subject, short)).toMatchObject({ error: 'invalid_request' });
    app.clock.turn(60);
    expect(await exchange(subject)).toMatchObject({ error: 'invalid_request' });
  });

  it('keeps the organization, and refuses another one', async () => {
    await app.services.projects.update(project.id, { organizationsEnabled: true }, system);
    const places = new Places(app, project);
    const [north, south] = [await places.organization('north'), await places.organization('south')];
    await places.join(north, user);
    await places.join(south, user);
    const subject = await tokenFor(front, { organization: 'north' });
    const { access_token } = await exchange(subject);
    expect(decodeJwt(access_token)['org_id']).toBe(north.id);
    expect(await introspect(access_token)).toMatchObject({ active: true, org_id: north.id });
    expect(await exchange(subject, { organization: 'south' })).toMatchObject({ error: 'invalid_request' });
    await places.set(north, 'state', 'suspended');
    expect(await introspect(access_token)).toEqual({ active: false });
    expect(await exchange(subject)).toMatchObject({ error: 'invalid_request' });
  });

  it('binds the token to the key of the proof, which is valid once; a bound token gives a bound one (RFC 9449)', async () => {
    const [key, other] = [await dpopKey(app.clock), await dpopKey(app.clock)];
    const url = `${gateway.issuer}/oauth2/token`;
    const subject = await tokenFor(front, { dpop: await key.proof({ url }) });
    expect(decodeJwt(subject)['cnf']).toEqual({ jkt: key.jkt });
    expect(await exchange(subject)).toMatchObject({ error: 'invalid_request' });
    expect(await lastFault()).toBe('missing-proof');
    const DPoP = await other.proof({ url });
    const answer = await exchange(subject, {}, gateway, { DPoP });
    expect(answer.token_type).toBe('DPoP');
    expect(decodeJwt(answer.access_token)['cnf']).toEqual({ jkt: other.jkt });
    expect(await exchange(subject, {}, gateway, { DPoP })).toMatchObject({ error: 'invalid_dpop_proof' });
    await set(web, { grantTypes: ['token_exchange'] });
    await grant(web, orders, ['read']);
    const own = async (by: typeof key) => exchange(subject, {}, web, { DPoP: await by.proof({ url }) });
    expect(await own(other)).toMatchObject({ error: 'invalid_request' });
    expect(await lastFault()).toBe('wrong-proof-key');
    expect((await own(key)).status).toBe(200);
  });
});

const invalid = 'invalid_request';

describe('a token exchange refuses', () => {
  it.each<[name: string, error: string, fault: string, attempt: (subject: string) => Promise<Answer>]>([
    ['text that is no token', invalid, 'malformed', () => exchange('x')],
    ['a token for UserInfo', invalid, 'malformed', async () => exchange(await userInfoToken())],
    ['a token of another project', invalid, 'malformed', async () => exchange(await foreignToken())],
    ['a token of a client itself', invalid, 'user', async () => exchange(await tokenOf(gateway))],
    [
      'an application that is neither the API nor obtained the token',
      ...([invalid, 'wrong-client'] as const),
      async (subject) => {
        const stranger = await service();
        await grant(stranger, orders, ['read']);
        return exchange(subject, {}, stranger);
      },
    ],
    [
      'a third-party application',
      ...([invalid, 'third-party'] as const),
      async (subject) => {
        await set(gateway, { thirdParty: true });
        return exchange(subject);
      },
    ],
    [
      'more scopes than granted at the API',
      'invalid_scope',
      'scope',
      (subject) => exchange(subject, { scope: 'write' }),
    ],
    [
      'more scopes than the subject token has',
      ...(['invalid_scope', 'scope'] as const),
      async () => {
        await grant(gateway, orders, ['read', 'write']);
        const subject = await tokenFor(front, { scope: 'read' });
        expect(await exchange(subject)).toMatchObject({ scope: 'read' });
        return exchange(subject, { scope: 'read write' });
      },
    ],
    [
      'a token without a scope of the API',
      ...(['invalid_scope', 'scope'] as const),
      async () => exchange(await tokenFor(front, { scope: 'write' })),
    ],
    [
      'an API that was not granted',
      ...(['invalid_target', 'api-not-granted'] as const),
      (subject) => exchange(subject, { resource: billing }),
    ],
    [
      'an API that accepts no exchange',
      ...(['invalid_target', 'exchange'] as const),
      async (subject) => {
        await setApi(orders, { tokenExchange: false });
        return exchange(subject);
      },
    ],
    [
      'the actor token of another application',
      ...([invalid, 'actor'] as const),
      async (subject) => exchange(subject, { actor_token: subject, actor_token_type: accessToken }),
    ],
    [
      'an actor token that was exchanged',
      ...([invalid, 'actor'] as const),
      async (subject) => {
        const { access_token } = await exchange(subject);
        return exchange(subject, { actor_token: access_token, actor_token_type: accessToken });
      },
    ],
    [
      'an application that the user may not use',
      ...([invalid, 'no-access'] as const),
      async (subject) => {
        await set(gateway, { access: 'assigned' });
        return exchange(subject);
      },
    ],
    [
      'a sign-in that does not meet the policy of the application',
      ...([invalid, 'policy'] as const),
      async (subject) => {
        await set(gateway, { passkeyRequired: true });
        return exchange(subject);
      },
    ],
  ])('%s', async (_name, error, fault, attempt) => {
    expect(await attempt(await tokenFor(front))).toMatchObject({ status: 400, error });
    expect(await lastFault()).toBe(fault);
  });

  const userInfoToken = async () => {
    const party = partyAt(app, project, web.client);
    await party.signIn(user);
    const response = await party.exchange(await party.code(), { client_id: undefined }, basic(web));
    return (await answerOf(response)).access_token;
  };

  /** Of a project with the same identifiers. */
  const foreignToken = async () => {
    const here = { project, apis };
    project = await app.make.project();
    apis = { [front]: await apiOf(app, project, front) };
    const by = await service();
    await grant(by, front, ['read', 'write']);
    const token = await tokenFor(front, { by, person: await app.make.user(project) });
    ({ project, apis } = here);
    return token;
  };

  it.each<[string, Form, string]>([
    ['no subject token', { subject_token: [] }, invalid],
    ['no type of the subject token', { subject_token_type: [] }, invalid],
    ['another type', { subject_token_type: 'urn:ietf:params:oauth:token-type:id_token' }, invalid],
    ['another requested type', { requested_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' }, invalid],
    ['the type of no actor token', { actor_token_type: accessToken }, invalid],
    ['an actor token without its type', { actor_token: 'x' }, invalid],
    ['an actor token that is none', { actor_token: 'x', actor_token_type: accessToken }, invalid],
    ['no API', { resource: [] }, 'invalid_target'],
    ['two APIs', { resource: [orders, billing] }, 'invalid_target'],
    ['an empty scope', { scope: ' ' }, 'invalid_scope'],
  ])('%s (section 2.1)', async (_name, form, error) => {
    expect(await exchange(await tokenFor(front), form)).toMatchObject({ status: 400, error });
  });

  it('applications without the grant, and public ones', async () => {
    const subject = await tokenFor(front);
    expect(await exchange(subject, {}, await service(['client_credentials']))).toMatchObject({
      error: 'unauthorized_client',
    });
    const made = service(['token_exchange'], { tokenEndpointAuthMethod: 'none' });
    expect(await problemOf(made)).toMatchObject({ field: 'grantTypes' });
  });

  it('everything at the base issuer', async () => {
    const form = new URLSearchParams({ grant_type: grantTypeNames.token_exchange, subject_token: 'x' });
    const response = await fetch(`${app.url}/oauth2/token`, { method: 'POST', body: form, headers: basic(gateway) });
    expect(await response.json()).toMatchObject({ error: 'unsupported_grant_type' });
    const discovery = await (await fetch(`${app.url}/.well-known/openid-configuration`)).json();
    expect(discovery).toMatchObject({ grant_types_supported: ['authorization_code'] });
  });
});

/** Each way to end the access, after which neither a new exchange nor the earlier token works. */
const ends: [how: string, fault: string, end: (subject: string) => Promise<unknown>][] = [
  ['the subject token is revoked', 'revoked', (token) => send(web, '/oauth2/revoke', { token })],
  [
    'the user is deactivated',
    'user',
    () => app.services.accounts.change(project.id, user.id, (now) => ({ ...valuesOf(now), active: false }), system),
  ],
  [
    'the session ends',
    'session-ended',
    async () => {
      const sessions = await rows<{ id: string }>(
        app.services.db,
        'select id from sessions where project_id = ? and user_id = ?',
        [project.id, user.id],
      );
      for (const { id } of sessions) await app.services.logout.endSession(keyIn(project.id, id), system);
    },
  ],
  ['the application of the subject token is disabled', 'subject-ended', () => set(web, { disabled: true })],
  [
    'the secret that obtained the subject token is revoked',
    'subject-ended',
    async () => {
      const [secret] = await rows<{ id: string }>(
        app.services.db,
        'select id from client_secrets where project_id = ? and client_id = ?',
        [project.id, web.client.id],
      );
      const more = await app.services.clientSecrets.issue(web.client, system);
      expect(more.clientSecret).not.toBe('');
      await app.services.clientSecrets.revoke(keyIn(project.id, secret?.id ?? ''), system);
    },
  ],
  ['the API accepts no exchange any more', 'exchange', () => setApi(orders, { tokenExchange: false })],
  ['the application loses the API', 'api-not-granted', () => grant(gateway, orders, [])],
  ['the user loses the application', 'no-access', () => set(gateway, { access: 'assigned' })],
];

describe('an exchanged token ends at once if', () => {
  it.each(ends)('%s', async (_how, fault, end) => {
    const subject = await tokenFor(front);
    const { access_token } = await exchange(subject);
    expect(await introspect(access_token)).toMatchObject({ active: true });
    await end(subject);
    expect(await introspect(access_token)).toEqual({ active: false });
    expect((await exchange(subject)).status).toBe(400);
    // A deactivation and a logout also revoke the subject token.
    expect([fault, 'revoked']).toContain(await lastFault());
  });

  it('the client that introduced itself, and obtained the subject token, is blocked, or loses the consent', async () => {
    const host = await new DocumentHost().open();
    await app.services.projects.update(project.id, { clientMetadataDocuments: 'anyone' }, system);
    await setApi(front, { thirdPartyAccess: true });
    const id = host.put('/client.json');
    const agent = await new Stranger(app, project, id, `${host.origin()}/callback`).signIn(user);
    const code = await agent.code({ scope: 'read', resource: front });
    const subject = (await agent.exchange(code, { resource: front })).access_token;
    const { access_token } = await exchange(subject);
    const block = (blockedClientDomains: string[]) =>
      app.services.projects.update(project.id, { blockedClientDomains }, system);
    const isActive = async () => (await introspect(access_token))['active'];
    expect(await isActive()).toBe(true);
    await block(['example.com']);
    expect(await isActive()).toBe(false);
    expect(await exchange(subject)).toMatchObject({ error: 'invalid_request' });
    expect(await lastFault()).toBe('subject-ended');
    await block([]);
    expect(await isActive()).toBe(true);
    await changed(app.services.db, 'delete from consents where project_id = ?', [project.id]);
    expect(await isActive()).toBe(false);
    expect(await exchange(subject)).toMatchObject({ error: 'invalid_request' });
    await host.close();
  });

  it('a token in the middle of the chain is revoked', async () => {
    const first = await exchange(await tokenFor(front));
    const { access_token } = await exchange(first.access_token, { resource: billing }, back);
    expect(await introspect(access_token)).toMatchObject({ active: true });
    await send(gateway, '/oauth2/revoke', { token: first.access_token });
    expect(await introspect(access_token)).toEqual({ active: false });
    expect(await exchange(first.access_token, { resource: billing }, back)).toMatchObject({ error: 'invalid_request' });
    expect(await lastFault()).toBe('revoked');
  });

  it('the actor is deactivated, or the application loses the grant', async () => {
    const person = await app.make.user(project);
    const actor = await tokenFor(orders, { by: gateway, person, scope: 'read' });
    const form = { actor_token: actor, actor_token_type: accessToken };
    const subject = await tokenFor(front);
    const [{ access_token }, plain] = [await exchange(subject, form), await exchange(subject)];
    await app.services.accounts.change(project.id, person.id, (now) => ({ ...valuesOf(now), active: false }), system);
    expect(await introspect(access_token)).toEqual({ active: false });
    expect(await exchange(subject, form)).toMatchObject({ error: 'invalid_request' });
    expect(await lastFault()).toBe('actor');
    expect(await introspect(plain.access_token)).toMatchObject({ active: true });
    await set(gateway, { grantTypes: ['client_credentials'] });
    expect(await introspect(plain.access_token)).toEqual({ active: false });
  });
});
