/** Who may use an application (decisions/0371): without access, no path gives a code or a token, however the access ended. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accessWays } from '../../test/access-ways.ts';
import { authorizationParameters, locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { DeviceBrowser } from '../../test/device-browser.ts';
import { redirectUri } from '../../test/factories.ts';
import { basic, send } from '../../test/machine.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import { rows } from '../../test/rows.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { grantTypeNames } from '../domain/kernel/openid.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let client: Client;
let user: User;
/** At the project's issuer, and at the base issuer. */
let party: RelyingParty;
let base: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());

beforeEach(async () => {
  // A new window of the limits.
  app.clock.turn(600);
  project = await app.make.project({ name: 'Acme' });
  const made = await app.make.client(project, {
    ...{ name: 'Wiki', access: 'assigned' },
    grantTypes: ['refresh_token', 'device_code'],
  });
  client = made.client;
  user = await app.make.user(project);
  party = partyAt(app, project, client);
  base = new RelyingParty(app, client);
  await party.signIn(user);
  for (const [name, value] of party.browser.cookies) base.browser.cookies.set(name, value);
});

const rules = () => app.services.accessRules;
const ways = accessWays(() => ({ app, project, client, user }));

const post = async (path: string, fields: Record<string, string>, at = party.issuer) => {
  const body = new URLSearchParams({ client_id: client.id, ...fields });
  const response = await fetch(`${at}/oauth2/${path}`, { method: 'POST', body });
  const text = await response.text();
  const answer = (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, string>;
  return { status: response.status, body: answer, error: answer['error'] };
};
const exchanged = async (by: RelyingParty, code: string) =>
  (await (await by.exchange(code)).json()) as Record<string, string>;
const refresh = (token: string) => post('token', { grant_type: 'refresh_token', refresh_token: token });
const poll = (device_code: string) => post('token', { grant_type: grantTypeNames.device_code, device_code });
const begin = async () =>
  (await post('device_authorization', { scope: 'openid' })).body as { device_code: string; user_code: string };
const push = async () =>
  (await post('par', authorizationParameters(client.id, party.proof.challenge))).body['request_uri'] ?? '';
const visit = (request_uri: string) =>
  party.browser.get(`${party.issuer}/authorize?${new URLSearchParams({ client_id: client.id, request_uri })}`);
/** The page at the end of an authorization request. */
const pageOf = async (response: Response, by = party) => {
  expect(locationOf(response).pathname).toMatch(/\/authorize\/resume$/);
  const page = await by.browser.get(locationOf(response).href);
  return { status: page.status, html: await page.text() };
};
const events = (type: string) =>
  rows<{ subject_id: string; client_id: string; detail: Record<string, unknown> }>(
    app.services.db,
    'select subject_id, client_id, detail from audit_log where project_id = ? and type = ? order by id',
    [project.id, type],
  );
const lasting = { scope: 'openid email offline_access' };

/** Credentials from before the loss, on each path. */
async function before() {
  const signedIn = await exchanged(party, await party.code(lasting));
  const device = new DeviceBrowser(app, party.issuer);
  for (const [name, value] of party.browser.cookies) device.browser.cookies.set(name, value);
  const approved = await begin();
  expect((await device.allow(approved.user_code)).status).toBe(200);
  const waiting = await begin();
  const flow = await device.flowOf(waiting.user_code);
  expect(await party.isSignedIn()).toBe(true);
  const pending = locationOf(await party.authorize({ prompt: 'login' })).searchParams.get('flow') ?? '';
  return {
    ...{ signedIn, device, approved, waiting, flow, pending },
    code: await party.code(),
    baseCode: await base.code(),
    baseToken: (await exchanged(base, await base.code()))['access_token'] ?? '',
    pushed: await push(),
  };
}

describe.each(ways)('if %s', (_how, give) => {
  it('no path gives a code or token, and what was given ends', async () => {
    const take = await give();
    const had = await before();
    await take();

    for (const by of [party, base]) {
      const silent = await by.answer({ prompt: 'none' });
      expect([silent.get('error'), silent.get('code'), silent.get('state')]).toEqual([
        'access_denied',
        null,
        'a state',
      ]);
      const { status, html } = await pageOf(await by.authorize(), by);
      expect(status).toBe(403);
      expect(html).toContain('This account has no access to Wiki.');
    }
    expect((await exchanged(party, had.code))['error']).toBe('invalid_grant');
    expect((await exchanged(base, had.baseCode))['error']).toBe('invalid_grant');
    expect((await refresh(had.signedIn['refresh_token'] ?? '')).error).toBe('invalid_grant');
    expect((await poll(had.approved.device_code)).error).toBe('invalid_grant');
    const approval = await had.device.approval(had.flow);
    expect([approval.status, await approval.text()]).toEqual([403, expect.stringContaining('no access to Wiki')]);
    expect((await had.device.post(had.flow, { decision: 'allow', csrf: '' })).status).toBe(403);
    expect((await poll(had.waiting.device_code)).error).toBe('authorization_pending');

    const access = had.signedIn['access_token'] ?? '';
    expect((await party.userInfo(access)).status).toBe(401);
    expect((await base.userInfo(had.baseToken)).status).toBe(401);

    // Pushed before, and a flow that began before and ends after its sign-in.
    expect((await pageOf(await visit(had.pushed))).status).toBe(403);
    await party.signIn(user);
    const resume = `${party.issuer}/authorize/resume?${new URLSearchParams({ flow: had.pending })}`;
    expect((await party.browser.get(resume)).status).toBe(403);

    const refused = (await events('token.refused')).map(({ detail }) => detail['fault']);
    expect(new Set(refused)).toEqual(new Set(['no-access']));
    const [event] = await events('access.refused');
    expect(event).toMatchObject({ subject_id: user.id, client_id: client.id, detail: { fault: 'no-access' } });
  });
});

describe('the page of a user without access', () => {
  it('names the account, the application and whom to ask, and leads to another account and back', async () => {
    const { html } = await pageOf(await party.authorize());
    for (const text of [user.email ?? '', 'no access to Wiki', 'Ask the administrator of Acme for access.']) {
      expect(html).toContain(text);
    }
    expect(html).not.toContain('id="support"');
    expect(html).toMatch(/id="other" href="\/signin\?flow=[\w-]+&amp;other="/);
    const back = /id="back" href="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const left = locationOf(await party.browser.get(new URL(back, app.url).href));
    expect(left.href.startsWith(redirectUri)).toBe(true);
    expect(Object.fromEntries(left.searchParams)).toMatchObject({
      ...{ error: 'access_denied', state: 'a state', iss: party.issuer },
    });
    // The flow has ended.
    expect((await party.browser.get(new URL(back, app.url).href)).status).toBe(400);
  });

  it('links to the support page of the project', async () => {
    const texts = [{ locale: 'en', key: 'supportUrl', text: 'https://help.example.com/access' }];
    const of = { projectId: project.id };
    await app.services.experiences.saveDraft(of, { displayName: 'Acme', texts }, system);
    await app.services.experiences.publish(of, system);
    const { html } = await pageOf(await party.authorize());
    expect(html).toContain('id="support" href="https://help.example.com/access"');
    expect(html).toContain('Ask support for access.');
  });

  it('gives the code once access is granted', async () => {
    const resume = locationOf(await party.authorize()).href;
    expect((await party.browser.get(resume)).status).toBe(403);
    await rules().grant(client, { userId: user.id }, system);
    expect(locationOf(await party.browser.get(resume)).searchParams.has('code')).toBe(true);
  });
});

it('introspection says that tokens of a user without access are inactive', async () => {
  const { client: web, clientSecret } = await app.make.client(project, {
    ...{ tokenEndpointAuthMethod: 'client_secret_basic', access: 'assigned', grantTypes: ['refresh_token'] },
  });
  const machine = { app, client: web, secret: clientSecret ?? '', issuer: party.issuer };
  const { id } = await rules().grant(web, { userId: user.id }, system);
  const by = partyAt(app, project, web);
  await by.signIn(user);
  const answer = await by.exchange(await by.code(lasting), {}, basic(machine));
  const tokens = (await answer.json()) as Record<string, string>;
  const states = async () => {
    const sent = [tokens['access_token'], tokens['refresh_token']] as string[];
    const answers = await Promise.all(sent.map((token) => send(machine, '/oauth2/introspect', { token })));
    return Promise.all(answers.map(async (one) => ((await one.json()) as { active: boolean }).active));
  };
  expect(await states()).toEqual([true, true]);
  await rules().revoke(keyIn(project.id, id), system);
  expect(await states()).toEqual([false, false]);
});

it('a rule of another application gives no access', async () => {
  const { client: other } = await app.make.client(project, { access: 'assigned' });
  await rules().grant(other, { userId: user.id }, system);
  expect((await party.answer({ prompt: 'none' })).get('error')).toBe('access_denied');
});
