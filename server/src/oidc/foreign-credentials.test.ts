/**
 * Credentials of other owners or of other kinds, sent to every place that accepts credentials: a project's issuer, the base
 * issuer, and the APIs that accept their tokens. Each is refused with its exact error, and stays valid in its own place.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorizationParameters, CookieBrowser, locationOf } from '../../test/browser.ts';
import { buildSibling, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { adjustableClock } from '../../test/clock.ts';
import { DeviceBrowser } from '../../test/device-browser.ts';
import { redirectUri } from '../../test/factories.ts';
import { apiOf, machineOf, orders, send } from '../../test/machine.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import { everything as allRights } from '../domain/admins/permission.ts';
import { system } from '../domain/kernel/actor.ts';
import { adminApiUrl } from '../domain/kernel/admin-api.ts';
import { grantTypeNames } from '../domain/kernel/openid.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { accessTokenType, idJagType } from '../domain/tokens/mint.ts';
import type { User } from '../domain/users/user.entity.ts';
import { assertionType } from './client-credential.ts';

let app: TestApp;

beforeAll(async () => {
  app = await buildTestApp();
  // Creates the console's project, to which admins of the API belong.
  await app.services.seed.create({ demo: false });
});
afterAll(() => app.close());

/** An application with each kind of credential of a project's issuer. */
interface Side {
  project: Project;
  user: User;
  rp: RelyingParty;
  secret: string;
  apiKey: string;
}

const kinds = [
  'code',
  'refresh token',
  'device code',
  'access token',
  'ID token',
  'API token',
  'API token of a user',
  'exchanged token',
  'identity assertion',
  'admin token',
  'impersonation link',
  'request_uri',
  'client secret',
  'API key',
  'API key of a user',
] as const;
type Kind = (typeof kinds)[number];
type Credentials = Partial<Record<Kind, string>>;

/**
 * `ours` receives the requests; `sibling` is another application of its project, `theirs` one of another project, `base` one
 * at the base issuer.
 */
const owners = ['ours', 'sibling', 'theirs', 'base'] as const;
type Owner = (typeof owners)[number];
const ofBase: readonly Kind[] = ['code', 'access token', 'ID token', 'API key'];
const everything = owners.flatMap((owner) => (owner === 'base' ? ofBase : kinds).map((kind) => [owner, kind] as const));

/** The server that the identity assertions are for. */
const otherServer = 'https://vendor.example.com';

async function side(project: Project): Promise<Side> {
  const { client, clientSecret, secretKey } = await app.make.client(project, {
    tokenEndpointAuthMethod: 'client_secret_post',
    grantTypes: ['refresh_token', 'device_code', 'client_credentials', 'token_exchange', 'jwt_bearer'],
    crossAppAccess: [{ audience: otherServer, clientId: 'there', scopes: [], resources: [] }],
    adminScopes: ['users:read'],
  });
  const user = await app.make.user(project);
  const rp = partyAt(app, project, client);
  await rp.signIn(user);
  return { project, user, rp, secret: clientSecret ?? '', apiKey: secretKey };
}

type Fields = Record<string, string>;

const post = (one: Side, path: string, fields: Fields, headers: Fields = {}) =>
  fetch(`${one.rp.issuer}/oauth2/${path}`, { method: 'POST', body: new URLSearchParams(fields), headers });
const authenticated = ({ rp, secret }: Side) => ({ client_id: rp.client.id, client_secret: secret });
const token = (one: Side, fields: Fields) => post(one, 'token', { ...authenticated(one), ...fields });

const redeeming = ({ rp }: Pick<Side, 'rp'>, code: string) => ({
  grant_type: 'authorization_code',
  code,
  code_verifier: rp.proof.verifier,
  redirect_uri: redirectUri,
});
const refreshing = (value: string) => ({ grant_type: 'refresh_token', refresh_token: value });
const exchanging = (subject: string, further: Fields = {}) => ({
  ...{ grant_type: grantTypeNames.token_exchange, resource: orders, subject_token: subject },
  ...{ subject_token_type: accessTokenType, ...further },
});
const asserting = (idToken: string) => ({
  ...{ grant_type: grantTypeNames.token_exchange, requested_token_type: idJagType, audience: otherServer },
  ...{ subject_token: idToken, subject_token_type: 'urn:ietf:params:oauth:token-type:id_token' },
});
const presenting = (assertion: string) => ({ grant_type: grantTypeNames.jwt_bearer, assertion });
const acting = (value: string) => ({ actor_token: value, actor_token_type: accessTokenType });
const polling = (value: string) => ({ grant_type: grantTypeNames.device_code, device_code: value });

async function json(response: Promise<Response>): Promise<Record<string, string>> {
  const answer = await response;
  expect(answer.ok).toBe(true);
  return (await answer.json()) as Record<string, string>;
}

/** A device that the user of `one` has allowed. */
async function deviceOf(one: Side): Promise<string> {
  const codes = await json(post(one, 'device_authorization', authenticated(one)));
  const person = new DeviceBrowser(app, one.rp.issuer);
  await person.signIn(one.user);
  expect((await person.allow(codes['user_code'] ?? '')).status).toBe(200);
  return codes['device_code'] ?? '';
}

async function impersonationOf({ project, rp, user }: Side): Promise<string> {
  const { services, clock } = app;
  await services.projects.update(project.id, { impersonation: true }, system);
  const wanted = {
    email: 'support@example.com',
    role: 'project_viewer' as const,
    projectId: project.id,
    impersonates: true,
  };
  const { user: admin } = await services.admins.grantRole(wanted, { grants: allRights, actor: system });
  const by = { adminId: admin.id, amr: ['pop', 'mfa'], freshAt: clock.now() };
  const about = { userId: user.id, clientId: rp.client.id, reason: 'x' };
  const { url } = await services.impersonations.begin(project.id, about, by, system);
  return new URL(url).searchParams.get('token') ?? '';
}

/** A key that the user makes for the API of the project. */
async function userKeyOf({ project, user }: Side): Promise<string> {
  const { db, userKeys } = app.services;
  const [api] = await userKeys.apis(db.reader(), project.id);
  const wanted = { apiId: api?.id ?? '', name: 'Script', scopes: ['read'], days: 30, networks: [] };
  return (await db.transaction((em) => userKeys.create(em, user, wanted, system))).token;
}

/** Whether an API key is active for the API of the project. */
async function isActiveUserKey({ project }: Side, value: string): Promise<unknown> {
  const { apis, db, userKeys } = app.services;
  const [api] = await userKeys.apis(db.reader(), project.id);
  const machine = await machineOf(app, project);
  await apis.grant(machine.client, api?.id ?? '', { scopes: [], introspects: true }, system);
  return (await json(send(machine, '/oauth2/introspect', { token: value })))['active'];
}

async function credentialsOf(one: Side): Promise<Required<Credentials>> {
  const tokens = await json(token(one, redeeming(one, await one.rp.code({ scope: 'openid offline_access' }))));
  const machine = (resource: string) => json(token(one, { grant_type: 'client_credentials', resource }));
  const forApi = redeeming(one, await one.rp.code({ scope: 'read', resource: orders }));
  const ofUser = (await json(token(one, forApi)))['access_token'] ?? '';
  const request = authorizationParameters(one.rp.client.id, one.rp.proof.challenge);
  return {
    code: await one.rp.code(),
    'refresh token': tokens['refresh_token'] ?? '',
    'device code': await deviceOf(one),
    'access token': tokens['access_token'] ?? '',
    'ID token': tokens['id_token'] ?? '',
    'API token': (await machine(orders))['access_token'] ?? '',
    'API token of a user': ofUser,
    'exchanged token': (await json(token(one, exchanging(ofUser))))['access_token'] ?? '',
    'identity assertion': (await json(token(one, asserting(tokens['id_token'] ?? ''))))['access_token'] ?? '',
    'admin token': (await machine(adminApiUrl(app.url)))['access_token'] ?? '',
    'impersonation link': await impersonationOf(one),
    request_uri: (await json(post(one, 'par', { ...request, ...authenticated(one) })))['request_uri'] ?? '',
    'client secret': one.secret,
    'API key': one.apiKey,
    'API key of a user': await userKeyOf(one),
  };
}

async function sideWithApi(project: Project, others: Side[] = []): Promise<Side> {
  const one = await side(project);
  const api = await apiOf(app, project);
  await app.services.apis.update(api, { tokenExchange: true, userKeys: true }, system);
  for (const { rp } of [one, ...others]) {
    await app.services.apis.grant(rp.client, api.id, { scopes: ['read'], introspects: false }, system);
  }
  return one;
}

let ours: Side;
let sibling: Side;
let theirs: Side;
/** A public application of our project at the base issuer. */
let base: RelyingParty;
let held: Record<Owner, Credentials>;

const valueOf = (owner: Owner, kind: Kind): string => {
  const value = held[owner][kind];
  if (!value) throw new Error(`${owner} has no ${kind}`);
  return value;
};

/** Status, and the error of the body, or of the challenge. */
async function outcome(response: Response | Promise<Response>): Promise<[number, string | undefined]> {
  const answer = await response;
  const text = await answer.text();
  const challengeError = /error="(\w+)"/.exec(answer.headers.get('www-authenticate') ?? '')?.[1];
  const isJson = answer.headers.get('content-type')?.includes('json') === true;
  const body = (isJson ? JSON.parse(text) : {}) as { error?: string; active?: boolean; detail?: string };
  return [answer.status, challengeError ?? body.error ?? (body.active === false ? 'inactive' : undefined)];
}

const bearer = (value: string) => ({ Authorization: `Bearer ${value}` });

type Refusal = string | readonly unknown[];

interface Place {
  /** Credentials that are valid here: `owner kind`. */
  takes: string[];
  ask(value: string): Promise<unknown>;
  refusal: Refusal | ((owner: Owner, kind: Kind) => Refusal);
}

const ofClients = [
  'access token',
  'refresh token',
  'API token',
  'API token of a user',
  'exchanged token',
  'admin token',
];
const ofUsers = ['ours access token', 'sibling access token'];

const places: Record<string, Place> = {
  'authorize: id_token_hint': {
    takes: ['ours ID token'],
    ask: async (id_token_hint) => (await ours.rp.answer({ prompt: 'none', id_token_hint })).get('error'),
    refusal: 'login_required',
  },
  'authorize: request_uri': {
    takes: ['ours request_uri'],
    ask: async (request_uri) => {
      const query = new URLSearchParams({ client_id: ours.rp.client.id, request_uri });
      const answer = await ours.rp.browser.get(`${ours.rp.issuer}/authorize?${query}`);
      return [answer.status, answer.headers.get('location')];
    },
    refusal: [400, null],
  },
  'impersonate: token': {
    // Of the project: the link itself names the application.
    takes: ['ours impersonation link', 'sibling impersonation link'],
    ask: async (value) => {
      const answer = await new CookieBrowser().get(
        `${ours.rp.issuer}/impersonate?${new URLSearchParams({ token: value })}`,
      );
      return [answer.status, answer.headers.get('set-cookie')];
    },
    refusal: [400, null],
  },
  'authorize: impersonation cookie': {
    // The link is not the cookie.
    takes: [],
    ask: async (value) => {
      const party = partyAt(app, ours.project, ours.rp.client);
      party.browser.cookies.set(`lk-impersonation-${ours.project.id}`, value);
      return (await party.answer({ prompt: 'none' })).get('error');
    },
    refusal: 'login_required',
  },
  'authorize: session cookie': {
    takes: [],
    ask: async (value) => {
      const party = partyAt(app, ours.project, ours.rp.client);
      party.browser.cookies.set(`lk-session-${ours.project.id}`, value);
      return (await party.answer({ prompt: 'none' })).get('error');
    },
    refusal: 'login_required',
  },
  'token: code': {
    takes: ['ours code'],
    ask: (value) => outcome(token(ours, redeeming(ours, value))),
    refusal: [400, 'invalid_grant'],
  },
  'token: refresh_token': {
    takes: ['ours refresh token'],
    ask: (value) => outcome(token(ours, refreshing(value))),
    refusal: [400, 'invalid_grant'],
  },
  'token: device_code': {
    takes: ['ours device code'],
    ask: (value) => outcome(token(ours, polling(value))),
    refusal: [400, 'invalid_grant'],
  },
  'token: subject_token': {
    takes: ['ours API token of a user'],
    ask: (value) => outcome(token(ours, exchanging(value))),
    refusal: [400, 'invalid_request'],
  },
  'token: actor_token': {
    takes: ['ours API token of a user', 'ours API token', 'ours admin token'],
    ask: (value) => outcome(token(ours, exchanging(valueOf('ours', 'API token of a user'), acting(value)))),
    refusal: [400, 'invalid_request'],
  },
  'token: subject_token of an assertion': {
    takes: ['ours ID token'],
    ask: (value) => outcome(token(ours, asserting(value))),
    refusal: [400, 'invalid_request'],
  },
  'token: assertion': {
    takes: [],
    ask: (value) => outcome(token(ours, presenting(value))),
    refusal: [400, 'invalid_grant'],
  },
  'UserInfo: header': {
    takes: ofUsers,
    ask: (value) => outcome(ours.rp.userInfo(value)),
    refusal: [401, 'invalid_token'],
  },
  'UserInfo: body': {
    takes: ofUsers,
    ask: (value) =>
      outcome(
        fetch(`${ours.rp.issuer}/userinfo`, { method: 'POST', body: new URLSearchParams({ access_token: value }) }),
      ),
    refusal: [401, 'invalid_token'],
  },
  'introspect: token': {
    takes: ofClients.map((kind) => `ours ${kind}`),
    ask: (value) => outcome(post(ours, 'introspect', { ...authenticated(ours), token: value })),
    refusal: [200, 'inactive'],
  },
  'revoke: token': {
    takes: ofClients.map((kind) => `ours ${kind}`),
    ask: (value) => outcome(post(ours, 'revoke', { ...authenticated(ours), token: value })),
    // RFC 7009 §2.1 and §2.2: another client's, or unknown here.
    refusal: (owner: Owner, kind: Kind) =>
      owner === 'sibling' && ofClients.includes(kind) ? [400, 'invalid_grant'] : [200, undefined],
  },
  'end_session: id_token_hint': {
    takes: ['ours ID token'],
    ask: async (id_token_hint) => {
      const parameters = { id_token_hint, client_id: ours.rp.client.id };
      const answer = await ours.rp.endSession(parameters);
      return [answer.status, (await answer.text()).includes('name="csrf"')];
    },
    // The confirmation page.
    refusal: [200, true],
  },
  'admin API: bearer': {
    takes: ['ours admin token', 'sibling admin token', 'theirs admin token'],
    ask: async (value) => {
      const body = JSON.stringify({ query: '{ me { kind } }' });
      const headers = { ...bearer(value), 'Content-Type': 'application/json' };
      return outcome(fetch(`${app.url}/admin/graphql`, { method: 'POST', headers, body }));
    },
    refusal: [401, undefined],
  },
  'SCIM /Me: bearer': {
    takes: ofUsers,
    ask: (value) => outcome(fetch(`${app.url}/v1/scim/${ours.project.id}/Me`, { headers: bearer(value) })),
    refusal: [401, 'invalid_token'],
  },
  'base authorize: id_token_hint': {
    takes: ['base ID token'],
    ask: async (id_token_hint) => (await base.answer({ prompt: 'none', id_token_hint })).get('error'),
    refusal: 'login_required',
  },
  'base token: code': {
    takes: ['base code'],
    ask: (value) => outcome(base.exchange(value)),
    refusal: [400, 'invalid_grant'],
  },
  'base UserInfo: header': {
    takes: ['base access token'],
    ask: (value) => outcome(base.userInfo(value)),
    refusal: [401, 'invalid_token'],
  },
  'base end_session: id_token_hint': {
    takes: ['base ID token'],
    ask: async (id_token_hint) => {
      const answer = await base.endSession({ id_token_hint, client_id: base.client.id });
      return [answer.status, (await answer.text()).includes('name="csrf"')];
    },
    refusal: [200, true],
  },
};

/** Endpoints that authenticate clients, with a request that is valid except for the credential. */
const requests: Record<string, () => Fields> = {
  token: () => ({ grant_type: 'client_credentials', resource: orders }),
  introspect: () => ({ token: 'x' }),
  revoke: () => ({ token: 'x' }),
  par: () => authorizationParameters(ours.rp.client.id, ours.rp.proof.challenge),
  device_authorization: () => ({}),
};
const ways: Record<string, (value: string) => { fields?: Fields; headers?: Fields; takes?: string }> = {
  'client_secret, form': (value) => ({ fields: { client_secret: value } }),
  'client_secret, HTTP Basic': (value) => ({
    headers: { Authorization: `Basic ${Buffer.from(`${ours.rp.client.id}:${value}`).toString('base64')}` },
  }),
  client_assertion: (value) => ({ fields: { client_assertion: value, client_assertion_type: assertionType } }),
  'X-Api-Key': (value) => ({ headers: { 'X-Api-Key': value } }),
};
for (const [path, fields] of Object.entries(requests)) {
  for (const [way, made] of Object.entries(ways)) {
    places[`${path}: ${way}`] = {
      takes: way.startsWith('client_secret') ? ['ours client secret'] : [],
      ask: (value) => {
        const sent = made(value);
        const form = { client_id: ours.rp.client.id, ...fields(), ...sent.fields };
        return outcome(post(ours, path, form, sent.headers));
      },
      refusal: [401, 'invalid_client'],
    };
  }
}

describe('a credential of another project, client, issuer or kind', () => {
  beforeAll(async () => {
    const [project, other] = [await app.make.project(), await app.make.project()];
    // /Me is a part of directory sync.
    await app.services.directories.issueScimToken({ projectId: project.id, name: 'd' }, system);
    sibling = await side(project);
    ours = await sideWithApi(project, [sibling]);
    theirs = await sideWithApi(other);
    const { client, secretKey } = await app.make.client(project);
    base = new RelyingParty(app, client);
    await base.signIn(await app.make.user(project));
    const atBase = await base.tokens();
    held = {
      ours: await credentialsOf(ours),
      sibling: await credentialsOf(sibling),
      theirs: await credentialsOf(theirs),
      base: {
        code: await base.code(),
        'access token': atBase.access_token,
        'ID token': atBase.id_token,
        'API key': secretKey,
      },
    };
  });

  it.each(Object.entries(places))('is refused at %s', async (_name, { takes, ask, refusal }) => {
    const foreign = everything.filter(([owner, kind]) => !takes.includes(`${owner} ${kind}`));
    expect(foreign).toHaveLength(everything.length - takes.length);
    for (const [owner, kind] of foreign) {
      const expected = typeof refusal === 'function' ? refusal(owner, kind) : refusal;
      expect([owner, kind, await ask(valueOf(owner, kind))]).toEqual([owner, kind, expected]);
    }
  });

  it('stays valid in its own place, as does every session', async () => {
    for (const [owner, one] of [
      ['ours', ours],
      ['sibling', sibling],
      ['theirs', theirs],
    ] as const) {
      const of = (kind: Kind) => valueOf(owner, kind);
      expect(await one.rp.isSignedIn()).toBe(true);
      expect((await one.rp.userInfo(of('access token'))).status).toBe(200);
      for (const kind of ['access token', 'refresh token', 'API token', 'admin token'] as const) {
        const about = await json(post(one, 'introspect', { ...authenticated(one), token: of(kind) }));
        expect([owner, kind, about['active']]).toEqual([owner, kind, true]);
      }
      expect([owner, await isActiveUserKey(one, of('API key of a user'))]).toEqual([owner, true]);
      const hinted = await one.rp.answer({ prompt: 'none', id_token_hint: of('ID token') });
      expect(hinted.has('code')).toBe(true);
      const pushed = new URLSearchParams({ client_id: one.rp.client.id, request_uri: of('request_uri') });
      const answer = await one.rp.browser.get(`${one.rp.issuer}/authorize?${pushed}`);
      expect(locationOf(answer).searchParams.has('code')).toBe(true);
      for (const fields of [redeeming(one, of('code')), refreshing(of('refresh token')), polling(of('device code'))]) {
        expect([owner, fields.grant_type, (await token(one, fields)).status]).toEqual([owner, fields.grant_type, 200]);
      }
    }
    expect(await base.isSignedIn()).toBe(true);
    expect((await base.userInfo(valueOf('base', 'access token'))).status).toBe(200);
    expect((await base.exchange(valueOf('base', 'code'))).status).toBe(200);
  });
});

describe('time', () => {
  let own: Required<Credentials>;

  beforeAll(async () => {
    ours = await sideWithApi(await app.make.project());
    await app.services.directories.issueScimToken({ projectId: ours.project.id, name: 'd' }, system);
  });

  it('makes tokens of a process that is two minutes ahead valid only later, at every endpoint', async () => {
    const clock = adjustableClock(new Date(app.clock.now().getTime() + 120_000));
    const ahead = await buildSibling(app, app.url, { clock });
    const there = ours.rp.issuer.replace(app.url, ahead.url);
    const ask = async (fields: Fields) => {
      const body = new URLSearchParams({ ...authenticated(ours), ...fields });
      return json(fetch(`${there}/oauth2/token`, { method: 'POST', body }));
    };
    const code = await ours.rp.code();
    clock.turn(-90);
    const early = await ask(redeeming(ours, code));
    const machine = await ask({ grant_type: 'client_credentials', resource: orders });
    await ahead.close();
    const access = early['access_token'] ?? '';
    expect(await outcome(ours.rp.userInfo(access))).toEqual([401, 'invalid_token']);
    expect(await places['SCIM /Me: bearer']?.ask(access)).toEqual([401, 'invalid_token']);
    for (const value of [access, machine['access_token'] ?? '']) {
      expect(await places['introspect: token']?.ask(value)).toEqual([200, 'inactive']);
    }
    app.clock.turn(31);
    expect((await ours.rp.userInfo(access)).status).toBe(200);
  });

  it('ends every credential, each with its error', async () => {
    own = await credentialsOf(ours);
    const after = async (seconds: number, expected: [place: string, kind: Kind, refusal: unknown][]) => {
      app.clock.turn(seconds);
      for (const [place, kind, refusal] of expected) {
        expect([place, await places[place]?.ask(own[kind])]).toEqual([place, refusal]);
      }
    };
    await after(61, [
      ['token: code', 'code', [400, 'invalid_grant']],
      ['authorize: request_uri', 'request_uri', [400, null]],
    ]);
    await after(540, [['token: device_code', 'device code', [400, 'expired_token']]]);
    await after(3000, [
      ['UserInfo: header', 'access token', [401, 'invalid_token']],
      ['UserInfo: body', 'access token', [401, 'invalid_token']],
      ['SCIM /Me: bearer', 'access token', [401, 'invalid_token']],
      ['admin API: bearer', 'admin token', [401, undefined]],
      ['introspect: token', 'access token', [200, 'inactive']],
      ['introspect: token', 'API token', [200, 'inactive']],
      ['introspect: token', 'admin token', [200, 'inactive']],
      ['revoke: token', 'access token', [200, undefined]],
    ]);
    await after(400 * 86_400, [
      ['token: refresh_token', 'refresh token', [400, 'invalid_grant']],
      ['introspect: token', 'refresh token', [200, 'inactive']],
      ['authorize: id_token_hint', 'ID token', 'login_required'],
    ]);
  });
});
