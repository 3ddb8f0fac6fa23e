/** Impersonation: an admin uses an application as a user (RFC 8693 section 1.1, decisions/0422). */
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Visit } from '../../test/account-visit.ts';
import { CookieBrowser } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { apiOf, basic, type Machine, orders, send } from '../../test/machine.ts';
import { Places } from '../../test/organizations.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import { changed, rows } from '../../test/rows.ts';
import { csrfHeader } from '../admin/api/server.ts';
import { everything } from '../domain/admins/permission.ts';
import type { BuiltIn } from '../domain/admins/seed.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { grantTypeNames } from '../domain/kernel/openid.ts';
import { problemOf } from '../domain/kernel/problem.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import type { User } from '../domain/users/user.entity.ts';

const byPasskey = ['swk', 'user', 'pop', 'mfa'];
const start = 'https://app.example.com/';
const backChannel = 'https://app.example.com/logout';

let app: TestApp;
let builtIn: BuiltIn;
let project: Project;
let client: Client;
let user: User;
let count = 0;

beforeAll(async () => {
  app = await buildTestApp();
  builtIn = await app.services.seed.create({ demo: false });
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await app.make.project();
  await set({ impersonation: true });
  ({ client } = await app.make.client(project, { backchannelLogoutUri: backChannel, grantTypes: ['refresh_token'] }));
  user = await app.make.user(project);
});

const set = (settings: object) => app.services.projects.update(project.id, settings, system);
const by = { grants: everything, actor: system };
const newAdmin = async (role: 'owner' | 'project_admin' | 'project_viewer', impersonates = true, of = project) => {
  count += 1;
  const email = `admin-${count}@example.com`;
  const scope = role === 'owner' ? {} : { projectId: of.id };
  const membership = await app.services.admins.grantRole({ email, role, impersonates, ...scope }, by);
  return new Admin(membership.user.getEntity() as User, membership.id);
};

/** An admin at the console, and their browser. */
class Admin {
  readonly browser = new CookieBrowser();
  constructor(
    readonly user: User,
    readonly membershipId: string,
  ) {}

  async signIn(amr: string[] = byPasskey, proof: 'person' | 'device-key' = 'person'): Promise<this> {
    const { secret } = await app.make.session(builtIn.console, this.user, amr, undefined, proof);
    this.browser.cookies.set(`lk-session-${builtIn.console.id}`, secret);
    return this;
  }

  async call(query: string, variables: object) {
    const response = await this.browser.send(`${app.url}/admin/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', [csrfHeader]: '1', Origin: app.url },
      body: JSON.stringify({ query, variables }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: the shape depends on the query
    const { data, errors = [] } = (await response.json()) as { data?: any; errors?: any[] };
    return { data, code: errors[0]?.extensions.code as string | undefined, message: errors[0]?.message as string };
  }

  begin(wanted: object = {}) {
    const input = { userId: user.id, clientId: client.id, reason: 'Ticket 4711', ...wanted };
    const mutation = `mutation ($input: BeginImpersonationInput!) { beginImpersonation(input: $input) { id url expiresAt } }`;
    return this.call(mutation, { input });
  }

  /** Begins, and opens the link; the relying party uses the same browser. */
  async impersonate(wanted: object = {}, at: Client = client): Promise<{ id: string; party: RelyingParty }> {
    const { data, message } = await this.begin({ clientId: at.id, ...wanted });
    if (!data) throw new Error(message);
    const { id, url } = data.beginImpersonation;
    const party = partyAt(app, project, at);
    const opened = await party.browser.get(url);
    expect([opened.status, opened.headers.get('location')]).toEqual([303, start]);
    return { id, party };
  }
}

const support = async () => (await newAdmin('project_viewer')).signIn();
const events = (type: string) =>
  rows<{ detail: Record<string, unknown>; actor_kind: string; actor_id: string; subject_id: string }>(
    app.services.db,
    'select detail, actor_kind, actor_id, subject_id from audit_log where project_id = ? and type = ? order by at, id',
    [project.id, type],
  );
const scope = 'openid email offline_access';
const isActive = async (token: string, machine: Machine) =>
  ((await (await send(machine, '/oauth2/introspect', { token })).json()) as { active: boolean }).active;
const statusOf = async (party: RelyingParty, token: string) => (await party.userInfo(token)).status;
const isCode = async (party: RelyingParty) => (await party.answer({ prompt: 'none' })).has('code');
const running = () =>
  rows(app.services.db, 'select 1 from sessions where project_id = ? and impersonation is not null', [project.id]);

describe('an impersonation', () => {
  it('signs in to one application as the user: its tokens name the admin, and none outlives it', async () => {
    const admin = await support();
    const { id, party } = await admin.impersonate();
    const tokens = await party.tokens({ scope });
    const act = { iss: app.url, sub: admin.user.id };
    const claims = await party.claims(tokens.id_token);
    const until = Math.floor(app.clock.now().getTime() / 1000) + 900;
    expect(claims).toMatchObject({ sub: user.id, sid: id, act, amr: byPasskey, session_expiry: until });
    expect(decodeJwt(tokens.access_token)).toMatchObject({ sub: user.id, act });
    expect(await statusOf(party, tokens.access_token)).toBe(200);
    expect(tokens).not.toHaveProperty('refresh_token');
    expect(tokens.scope).toBe('openid email');
    app.clock.turn(850);
    const last = await party.tokens({ scope });
    expect(last.expires_in).toBe(50);
    expect(decodeJwt(last.id_token).exp).toBeLessThanOrEqual(until);
    app.clock.turn(51);
    expect(await isCode(party)).toBe(false);
  });

  it('names both persons in its events, and writes to the user', async () => {
    const admin = await support();
    const { id, party } = await admin.impersonate();
    await party.tokens();
    const [begun] = await events('impersonation.begun');
    expect(begun).toMatchObject({ actor_kind: 'admin', actor_id: admin.user.id, subject_id: user.id });
    expect(begun?.detail).toMatchObject({ reason: 'Ticket 4711', sessionId: id });
    expect((await events('token.issued'))[0]).toMatchObject({ subject_id: user.id });
    expect((await events('token.issued'))[0]?.detail).toEqual({ impersonatorId: admin.user.id });
    await admin.call('mutation ($id: ID!) { endImpersonation(id: $id) }', { id });
    expect((await events('session.ended'))[0]?.detail).toMatchObject({
      userId: user.id,
      impersonatorId: admin.user.id,
    });
    await app.runJobs();
    const mails = app.mailbox.filter(({ to }) => to === user.email);
    expect(mails).toHaveLength(1);
    expect(mails[0]?.text).toContain('Reason: Ticket 4711');
    await set({ impersonationNotices: false });
    await admin.impersonate();
    await app.runJobs();
    expect(app.mailbox.filter(({ to }) => to === user.email)).toHaveLength(1);
  });

  it('continues in an exchanged token, which names the chain (RFC 8693 section 4.1)', async () => {
    const [api, target] = [await apiOf(app, project, 'https://front.example.com'), await apiOf(app, project)];
    await app.services.apis.update(target, { tokenExchange: true }, system);
    const settings = {
      ...{ tokenEndpointAuthMethod: 'client_secret_basic' as const },
      grantTypes: ['client_credentials' as const, 'token_exchange' as const],
    };
    const made = await app.make.client(project, settings);
    const gateway = {
      app,
      client: made.client,
      secret: made.clientSecret ?? '',
      issuer: partyAt(app, project, client).issuer,
    };
    await app.services.apis.grant(client, api.id, { scopes: ['read'], introspects: false }, system);
    await app.services.apis.grant(gateway.client, api.id, { scopes: [], introspects: true }, system);
    await app.services.apis.grant(gateway.client, target.id, { scopes: ['read'], introspects: true }, system);
    // The admin proved a passkey, not the user a second factor.
    await set({ mfaPolicy: 'required' });
    const admin = await support();
    const { id, party } = await admin.impersonate();
    const { access_token: subject } = await party.tokens({ scope: 'read', resource: 'https://front.example.com' });
    const form = {
      ...{ grant_type: grantTypeNames.token_exchange, subject_token: subject, resource: orders },
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    };
    const answer = await send(gateway, '/oauth2/token', form, basic(gateway));
    const { access_token: token } = (await answer.json()) as { access_token: string };
    const { id: clientId } = gateway.client;
    const act = { sub: clientId, client_id: clientId, act: { iss: app.url, sub: admin.user.id } };
    expect(decodeJwt(token)['act']).toEqual(act);
    expect([await isActive(subject, gateway), await isActive(token, gateway)]).toEqual([true, true]);
    await app.services.impersonations.end(keyIn(project.id, id), system);
    expect([await isActive(subject, gateway), await isActive(token, gateway)]).toEqual([false, false]);
  });

  it('acts in the organization that the admin chose', async () => {
    const places = new Places(
      app,
      await app.services.projects.update(project.id, { organizationsEnabled: true }, system),
    );
    const [north, south] = [await places.organization('north'), await places.organization('south')];
    for (const one of [north, south]) await places.join(one, user);
    const admin = await support();
    const { party } = await admin.impersonate({ organizationId: south.id });
    expect(await party.claims((await party.tokens()).id_token)).toMatchObject({ org_id: south.id });
    const undecided = await admin.impersonate();
    expect((await undecided.party.answer()).get('error')).toBe('access_denied');
  });
});

describe('who may impersonate', () => {
  it.each([
    ['the project has it off', async () => void (await set({ impersonation: false })), support, 'does not allow'],
    [
      'the admin lacks the right',
      async () => undefined,
      async () => (await newAdmin('project_admin', false)).signIn(),
      'the right',
    ],
    ['an owner lacks it', async () => undefined, async () => (await newAdmin('owner', false)).signIn(), 'the right'],
    [
      'the sign-in was by mail',
      async () => undefined,
      async () => (await newAdmin('owner')).signIn(['swk', 'otp']),
      'a passkey',
    ],
    [
      'it was by device',
      async () => undefined,
      async () => (await newAdmin('owner')).signIn(['swk'], 'device-key'),
      'Sign in again',
    ],
  ])('refuses if %s', async (_case, prepare, who, reason) => {
    await prepare();
    const { code, message } = await (await who()).begin();
    expect([code, message]).toEqual([
      expect.stringMatching(/forbidden|reauthentication/),
      expect.stringContaining(reason),
    ]);
    expect(await running()).toEqual([]);
  });

  it('requires that the passkey was used within 15 minutes', async () => {
    const admin = await support();
    app.clock.turn(901);
    expect((await admin.begin()).code).toBe('reauthentication-required');
  });

  it('refuses admins as users, tokens as callers, and users of another project', async () => {
    await app.services.projects.update(builtIn.console.id, { impersonation: true }, system);
    const owner = await (await newAdmin('owner')).signIn();
    const victim = await newAdmin('owner');
    const { consoleClient } = builtIn;
    const ofAdmin = await owner.begin({ userId: victim.user.id, clientId: consoleClient.id });
    expect(ofAdmin).toMatchObject({ code: 'forbidden', message: expect.stringContaining('admins cannot') });
    const other = await app.make.project();
    const stranger = await (await newAdmin('project_admin', true, other)).signIn();
    expect((await stranger.begin()).code).toBe('not-found');
    const { token } = await app.services.admins.createToken({ name: 'x', role: 'owner' }, by);
    const response = await fetch(`${app.url}/admin/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      body: JSON.stringify({
        query: 'mutation ($input: BeginImpersonationInput!) { beginImpersonation(input: $input) { id } }',
        variables: { input: { userId: user.id, clientId: client.id, reason: 'x' } },
      }),
    });
    expect(JSON.stringify(await response.json())).toContain('an admin who is signed in to the console');
    expect(await running()).toEqual([]);
  });

  it('refuses inactive users, and applications that cannot name the admin', async () => {
    const admin = await support();
    const third = (await app.make.client(project, { thirdParty: true })).client;
    const several = { redirectUris: ['https://a.example.com/cb', 'https://b.example.com/cb'] };
    const without = (await app.make.client(project, several)).client;
    const foreign = (await app.make.client(await app.make.project())).client;
    expect((await admin.begin({ clientId: third.id })).code).toBe('invalid');
    expect((await admin.begin({ clientId: without.id })).code).toBe('invalid');
    expect((await admin.begin({ clientId: foreign.id })).code).toBe('not-found');
    expect((await admin.begin({ reason: ' ' })).code).toBe('invalid');
    // The user gets it in a mail.
    expect((await admin.begin({ reason: 'See https://evil.example' })).code).toBe('invalid');
    expect((await admin.begin({ organizationId: project.id })).code).toBe('not-found');
    await app.services.accountAccess.deactivate(project.id, user.id, system);
    expect((await admin.begin()).code).toBe('invalid');
    expect(await running()).toEqual([]);
  });

  it('is a right that a role has by itself, and not of admins of organizations', async () => {
    const wanted = { email: 'o@example.com', role: 'organization_admin' as const, impersonates: true };
    const refused = app.services.admins.grantRole({ ...wanted, projectId: project.id, organizationIds: [] }, by);
    expect(await problemOf(refused)).toMatchObject({ code: 'invalid', field: 'impersonates' });
    const admin = await newAdmin('project_admin');
    const { email, userName } = admin.user;
    await app.services.admins.grantRole({ email: email ?? userName, role: 'project_admin', projectId: project.id }, by);
    expect((await (await admin.signIn()).begin()).message).toContain('the right to impersonate');
  });

  it('begins at most 20 in an hour, of 200 at once', async () => {
    const admin = await support();
    const answers = await Promise.all(Array.from({ length: 40 }, () => admin.begin()));
    expect(answers.filter(({ data }) => data)).toHaveLength(20);
    expect(new Set(answers.flatMap(({ code }) => code ?? []))).toEqual(new Set(['too-many']));
    expect(await running()).toHaveLength(20);
  });
});

describe('its link and its cookie', () => {
  const linkOf = async () => (await (await support()).begin()).data.beginImpersonation.url as string;
  const cookieOf = ({ cookies }: CookieBrowser) => cookies.get(`lk-impersonation-${project.id}`);

  it('gives the cookie once, also to 200 at once, and within a minute', async () => {
    const url = await linkOf();
    const browsers = Array.from({ length: 200 }, () => new CookieBrowser());
    const answers = await Promise.all(browsers.map((browser) => browser.get(url)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(browsers.filter(cookieOf)).toHaveLength(1);
    const late = await linkOf();
    app.clock.turn(61);
    const browser = new CookieBrowser();
    expect([(await browser.get(late)).status, cookieOf(browser)]).toEqual([400, undefined]);
  });

  it('works at the issuer of its project only', async () => {
    const url = await linkOf();
    const token = new URL(url).search;
    const other = partyAt(app, await app.make.project(), client).issuer;
    const browser = new CookieBrowser();
    expect((await browser.get(`${other}/impersonate${token}`)).status).toBe(400);
    expect((await browser.get(`${app.url}/impersonate${token}`)).status).toBe(404);
    expect((await browser.get(url)).status).toBe(303);
  });

  it('opens no other application, no account page, and no session of the user', async () => {
    const { party } = await (await support()).impersonate();
    const secret = cookieOf(party.browser) ?? '';
    const another = partyAt(app, project, (await app.make.client(project)).client);
    another.browser.cookies.set(`lk-impersonation-${project.id}`, secret);
    expect((await another.answer({ prompt: 'none' })).get('error')).toBe('login_required');
    // At the base issuer, and as the cookie of a session.
    const base = new RelyingParty(app, client);
    base.browser.cookies.set(`lk-impersonation-${project.id}`, secret);
    base.browser.cookies.set(`lk-session-${project.id}`, secret);
    expect((await base.answer({ prompt: 'none' })).get('error')).toBe('login_required');
    const [row] = await rows<{ secret_hash: string }>(
      app.services.db,
      'select secret_hash from sessions where project_id = ? and impersonation is not null',
      [project.id],
    );
    for (const value of [secret, row?.secret_hash ?? '']) {
      const visit = new Visit(app.url, project.id, { id: '', secret: value });
      expect(await visit.isSignedIn()).toBe(false);
    }
  });

  it('leaves the session of the browser alone, and asks for a sign-in where the request demands one', async () => {
    const { party } = await (await support()).impersonate();
    const own = await app.make.user(project);
    await party.signIn(own);
    expect((await party.claims((await party.tokens()).id_token)).sub).toBe(user.id);
    const another = partyAt(app, project, (await app.make.client(project)).client);
    for (const [name, value] of party.browser.cookies) another.browser.cookies.set(name, value);
    expect((await another.claims((await another.tokens()).id_token)).sub).toBe(own.id);
    const answer = await party.authorize({ prompt: 'login' });
    expect(answer.headers.get('location')).toContain('/signin?flow=');
  });
});

describe('the end of an impersonation', () => {
  const ends: [string, (admin: Admin, id: string) => Promise<unknown>][] = [
    ['the admin ends it', (admin, id) => admin.call('mutation ($id: ID!) { endImpersonation(id: $id) }', { id })],
    [
      'the user ends it at /account',
      async (_, id) => {
        const visit = new Visit(app.url, project.id, await sessionOf(user));
        expect(await visit.page()).toContain('An administrator, as you');
        expect(await visit.page()).toContain('Reason: Ticket 4711');
        await visit.change('end-session', { id });
        expect(await visit.isSignedIn()).toBe(true);
      },
    ],
    [
      'the user ends all other sessions',
      async () => new Visit(app.url, project.id, await sessionOf(user)).change('end-other-sessions'),
    ],
    ['the user is deactivated', () => app.services.accountAccess.deactivate(project.id, user.id, system)],
    ['the user is erased', () => app.services.accountAccess.erase(project.id, user.id, system)],
  ];
  const sessionOf = async (of: User) => {
    const { session, secret } = await app.make.session(project, of);
    return { id: session.id, secret };
  };

  it.each(ends)('comes when %s: tokens end at once, and the application gets a logout token', async (_case, end) => {
    const admin = await support();
    const { id, party } = await admin.impersonate();
    const { access_token: token } = await party.tokens();
    const code = await party.code();
    await end(admin, id);
    expect(await statusOf(party, token)).toBe(401);
    expect((await party.exchange(code)).status).toBe(400);
    expect(await isCode(party)).toBe(false);
    await app.runJobs();
    expect(app.logoutTokens.some(({ token: sent }) => decodeJwt(sent).sub === user.id)).toBe(true);
  });

  it('comes with its time, and with the right, the role or the account of the admin', async () => {
    const lost: [string, (admin: Admin) => Promise<unknown>][] = [
      ['time', async () => app.clock.turn(901)],
      ['role', ({ membershipId }) => app.services.admins.revokeRole(membershipId, by)],
      ['account', ({ user: { id } }) => app.services.accountAccess.deactivate(builtIn.console.id, id, system)],
      ['setting', () => set({ impersonation: false })],
    ];
    for (const [name, lose] of lost) {
      const admin = await support();
      const { id, party } = await admin.impersonate();
      const { access_token: token } = await party.tokens();
      const code = await party.code();
      await lose(admin);
      expect([name, await isCode(party)]).toEqual([name, false]);
      await app.services.impersonations.sweep();
      expect([name, await statusOf(party, token)]).toEqual([name, 401]);
      expect([name, (await party.exchange(code)).status]).toEqual([name, 400]);
      await app.runJobs();
      expect([name, app.logoutTokens.some(({ token: sent }) => decodeJwt(sent)['sid'] === id)]).toEqual([name, true]);
    }
  });

  it('redeems no code after its time, before the job ends it', async () => {
    const { party } = await (await support()).impersonate();
    app.clock.turn(895);
    const code = await party.code();
    app.clock.turn(6);
    expect((await party.exchange(code)).status).toBe(400);
  });

  it('comes alone when the application signs out: the sessions of the user stay', async () => {
    const own = new Visit(app.url, project.id, await sessionOf(user));
    const { party } = await (await support()).impersonate();
    const { id_token } = await party.tokens();
    expect((await party.endSession({ id_token_hint: id_token, client_id: client.id })).status).toBeLessThan(400);
    expect(await isCode(party)).toBe(false);
    expect(await own.isSignedIn()).toBe(true);
  });

  it('is for the admin who began it and admins of the project, and never ends a session of the user', async () => {
    const admin = await support();
    const { id } = await admin.impersonate();
    const mutation = 'mutation ($id: ID!) { endImpersonation(id: $id) }';
    const viewer = await (await newAdmin('project_viewer', true)).signIn();
    expect((await viewer.call(mutation, { id })).code).toBe('forbidden');
    const other = await (await newAdmin('project_admin', true, await app.make.project())).signIn();
    expect((await other.call(mutation, { id })).code).toBe('not-found');
    const boss = await (await newAdmin('project_admin', false)).signIn();
    const { id: own } = await sessionOf(user);
    expect((await boss.call(mutation, { id: own })).code).toBe('not-found');
    const list = 'query ($id: ID!) { impersonations(projectId: $id) { id reason admin user { id } client { id } } }';
    expect((await boss.call(list, { id: project.id })).data.impersonations).toEqual([
      { id, reason: 'Ticket 4711', admin: admin.user.email, user: { id: user.id }, client: { id: client.id } },
    ]);
    expect((await other.call(list, { id: project.id })).code).toBe('not-found');
    expect((await boss.call(mutation, { id })).data).toEqual({ endImpersonation: id });
    expect((await boss.call(list, { id: project.id })).data.impersonations).toEqual([]);
  });

  it('loses the organization with the membership of the user', async () => {
    const places = new Places(
      app,
      await app.services.projects.update(project.id, { organizationsEnabled: true }, system),
    );
    const north = await places.organization('north');
    await places.join(north, user);
    const { party } = await (await support()).impersonate({ organizationId: north.id });
    const { access_token: token } = await party.tokens();
    expect(await statusOf(party, token)).toBe(200);
    await changed(app.services.db, 'delete from organization_memberships where user_id = ?', [user.id]);
    expect(await statusOf(party, token)).toBe(401);
    expect(await isCode(party)).toBe(false);
  });
});
