/** The user's consent for third-party applications (OpenID Connect Core §3.1.2.4, §11). */

import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { peopleOf, type RegisteredUser } from '../../test/account-visit.ts';
import { locationOf } from '../../test/browser.ts';
import { buildSibling, type TestApp } from '../../test/build-app.ts';
import { redirectUri } from '../../test/factories.ts';
import { Places } from '../../test/organizations.ts';
import { pngOf } from '../../test/pictures.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { type Changes, RelyingParty } from '../../test/relying-party.ts';
import { SigninPage } from '../../test/signin-browser.ts';
import { appOrigin, SigninWorld } from '../../test/signin-world.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { problemOf } from '../domain/kernel/problem.ts';

const world = SigninWorld.ofTests();
const { registeredUser } = peopleOf(world);
let app: TestApp;
let client: Client;
let person: RegisteredUser;
let party: RelyingParty;

beforeAll(() => {
  ({ app } = world);
});

beforeEach(async () => {
  client = await thirdParty('Calendar <b>');
  person = await registeredUser();
  party = partyAt(app, world.project, client);
  await party.signIn(person.user);
});

async function thirdParty(name: string): Promise<Client> {
  const { client: made } = await app.make.client(world.project, { name });
  return app.services.clients.update(made, { thirdParty: true, grantTypes: ['refresh_token'] }, system);
}

/** The consent page: its text, and the fields of its form. */
interface ConsentPage {
  html: string;
  headers: Headers;
  fields: { flow: string; csrf: string };
  action: string;
}

async function consentPage(response: Response, by = party): Promise<ConsentPage> {
  const resume = locationOf(response);
  expect(resume.pathname).toMatch(/\/authorize\/resume$/);
  return read(await by.browser.get(resume.href));
}

async function read(page: Response): Promise<ConsentPage> {
  const html = await page.text();
  const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
  const action = /action="([^"]+)"/.exec(html)?.[1] ?? '';
  return { html, headers: page.headers, fields: { flow: field('flow'), csrf: field('csrf') }, action };
}

/** Sends the form, and follows the redirect to the end of the flow. */
async function decide(
  page: ConsentPage,
  given: 'allow' | 'cancel',
  by = party,
  fields: Changes = {},
): Promise<Response> {
  const form = { ...page.fields, answer: given, ...fields } as Record<string, string>;
  const noted = await by.browser.post(new URL(page.action, app.url).href, form);
  return noted.status === 303 ? by.browser.get(locationOf(noted).href) : noted;
}
const parametersOf = async (response: Response) => locationOf(response).searchParams;
const allow = async (changes: Changes = {}, by = party) => {
  const done = await parametersOf(await decide(await consentPage(await by.authorize(changes), by), 'allow', by));
  return done.get('code') ?? `no code: ${done}`;
};
const events = async () => (await world.events()).filter((type) => /^(consent|access)\./.test(type));
const lasting = { scope: 'openid email offline_access' };

async function tokensOf(code: string): Promise<{ status: number; refresh_token: string; access_token: string }> {
  const response = await party.exchange(code);
  return { status: response.status, ...((await response.json()) as { refresh_token: string; access_token: string }) };
}
async function refresh(token: string): Promise<number> {
  const form = { client_id: client.id, grant_type: 'refresh_token', refresh_token: token };
  return (await fetch(`${party.issuer}/oauth2/token`, { method: 'POST', body: new URLSearchParams(form) })).status;
}

it('names the organization that the user signs in for, whose claims need no scope', async () => {
  await app.services.projects.update(world.project.id, { organizationsEnabled: true }, system);
  const places = new Places(app, world.project);
  await places.join(await places.organization('north', 'North <b>'), person.user);
  const { html } = await consentPage(await party.authorize());
  expect(html).toContain('See that you sign in for North &lt;b&gt;, and your roles in it');
  const { user } = await registeredUser();
  const other = partyAt(app, world.project, client);
  await other.signIn(user);
  expect((await consentPage(await other.authorize(), other)).html).not.toContain('sign in for');
});

describe('consent', () => {
  it('shows the logo of the application', async () => {
    expect((await consentPage(await party.authorize(lasting))).html).not.toContain('app-logo');
    const { clients, experiences } = app.services;
    const { id } = await experiences.addLogo(world.project.id, pngOf(64, 64), system);
    await clients.update(client, { logoId: id }, system);
    const { html } = await consentPage(await party.authorize(lasting));
    expect(html).toContain(`<img class="app-logo" src="/experience/logos/${id}" alt="">`);
  });

  it('is requested once under a live session, in plain words, before a code is issued', async () => {
    const page = await consentPage(await party.authorize(lasting));
    for (const text of [
      'Calendar &lt;b&gt; asks for access',
      person.address,
      'See your email address',
      'while you are away',
      new URL(redirectUri).host,
    ]) {
      expect(page.html).toContain(text);
    }
    const policy = page.headers.get('content-security-policy');
    expect(policy).toContain("frame-ancestors 'none'");
    // A browser would apply it to the application's redirects after the callback.
    expect(policy).not.toContain('form-action');
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    expect(page.headers.get('cache-control')).toBe('no-store');
    const back = await parametersOf(await decide(page, 'allow'));
    expect([...back.keys()].sort()).toEqual(['code', 'iss', 'state']);
    expect((await tokensOf(back.get('code') ?? '')).status).toBe(200);
    expect((await party.answer({ ...lasting, prompt: 'none' })).get('code')).not.toBeNull();
    expect((await party.answer({ scope: 'openid' })).get('code')).not.toBeNull();
    expect(await events()).toEqual(['consent.given']);
  });

  it('is requested again for more scopes, for prompt=consent, and for another person', async () => {
    await allow({ scope: 'openid email' });
    expect((await party.answer({ scope: 'openid email phone', prompt: 'none' })).get('error')).toBe('consent_required');
    await allow({ scope: 'openid phone' });
    expect((await party.answer({ scope: 'openid email phone' })).has('code')).toBe(true);
    await allow({ scope: 'openid', prompt: 'consent' });
    const other = partyAt(app, world.project, client);
    await other.signIn((await registeredUser()).user);
    expect((await other.answer({ prompt: 'none' })).get('error')).toBe('consent_required');
  });

  it('returns access_denied if the user refuses, and stores nothing', async () => {
    const page = await consentPage(await party.authorize());
    const back = await parametersOf(await decide(page, 'cancel'));
    expect([back.get('error'), back.get('code'), back.get('state')]).toEqual(['access_denied', null, 'a state']);
    expect((await party.answer({ prompt: 'none' })).get('error')).toBe('consent_required');
    expect(await events()).toEqual(['consent.refused']);
  });

  it('is requested in the reader’s language', async () => {
    const resume = locationOf(await party.authorize()).href;
    const texts = {
      de: 'bittet um Zugriff',
      es: 'solicita acceso',
      fr: 'demande un accès',
      ja: 'アクセスを求めています',
    };
    for (const [language, text] of Object.entries(texts)) {
      const html = await (await party.browser.get(resume, { 'accept-language': language })).text();
      expect(html).toContain(text);
      expect(html).not.toMatch(/(consent|scope)\.\w|\{\w+\}/);
    }
  });

  it('is requested at the base issuer, too, after a sign-in', async () => {
    const base = new RelyingParty(app, client);
    const flow = locationOf(await base.authorize({ scope: 'openid email' })).searchParams.get('flow') ?? '';
    // Without a session, the user is unknown.
    const early = await base.browser.get(`${app.url}/authorize/resume?${new URLSearchParams({ flow })}`);
    expect(locationOf(early).pathname).toBe('/signin');
    await base.signIn(person.user);
    const page = await read(await base.browser.get(`${app.url}/authorize/resume?${new URLSearchParams({ flow })}`));
    expect(page.html).toContain('asks for access');
    const code = (await parametersOf(await decide(page, 'allow', base))).get('code') ?? '';
    expect((await base.exchange(code)).status).toBe(200);
  });

  it('is not requested for other applications, regardless of their prompt', async () => {
    const { client: own } = await app.make.client(world.project);
    const first = new RelyingParty(app, own);
    await first.signIn(person.user);
    expect((await first.answer({ prompt: 'consent' })).has('code')).toBe(true);
  });

  it('needs a new sign-in first if the request has max_age', async () => {
    expect(locationOf(await party.authorize({ max_age: '300' })).pathname).toBe('/signin');
  });

  it('is requested on the hosted page only: the SDK is refused', async () => {
    await app.services.clients.update(world.client, { thirdParty: true }, system);
    const response = await fetch(`${app.url}/v1/signin/challenge`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': world.apiKey, origin: appOrigin },
      body: '{}',
    });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ error: { code: 'HOSTED_PAGE_REQUIRED' } });
  });
});

describe('a consent that is withdrawn', () => {
  it('ends codes, access tokens and refresh tokens, and is requested again', async () => {
    const tokens = await tokensOf(await allow(lasting));
    const code = await party.code(lasting);
    const account = await person.visit.page();
    expect(account).toContain('Calendar &lt;b&gt;');
    await person.visit.change('remove-application', { id: client.id });
    expect(await refresh(tokens.refresh_token)).toBe(400);
    expect((await party.userInfo(tokens.access_token)).status).toBe(401);
    expect((await tokensOf(code)).status).toBe(400);
    expect((await party.answer({ ...lasting, prompt: 'none' })).get('error')).toBe('consent_required');
    expect(await events()).toEqual(['consent.given', 'access.removed']);
  });

  it('before its code is issued is requested again, and can be given again', async () => {
    const page = await consentPage(await party.authorize());
    const form = { ...page.fields, answer: 'allow' };
    const noted = await party.browser.post(new URL(page.action, app.url).href, form);
    await person.visit.change('remove-application', { id: client.id });
    const shown = await read(await party.browser.get(locationOf(noted).href));
    expect((await parametersOf(await decide(shown, 'allow'))).has('code')).toBe(true);
    expect(await events()).toEqual(['consent.given', 'access.removed', 'consent.given']);
  });

  it('concerns one application: another asks separately, and keeps its consent', async () => {
    const other = partyAt(app, world.project, await thirdParty('Notes'));
    await other.signIn(person.user);
    await allow();
    expect((await other.answer({ prompt: 'none' })).get('error')).toBe('consent_required');
    await allow({}, other);
    await person.visit.change('remove-application', { id: client.id });
    expect((await party.answer({ prompt: 'none' })).get('error')).toBe('consent_required');
    expect((await other.answer({ prompt: 'none' })).has('code')).toBe(true);
  });

  it('is required for earlier codes and tokens of an application that becomes a third party', async () => {
    await app.services.clients.update(client, { thirdParty: false }, system);
    const tokens = await tokensOf(await party.code(lasting));
    const code = await party.code(lasting);
    await app.services.clients.update(client, { thirdParty: true }, system);
    expect(await refresh(tokens.refresh_token)).toBe(400);
    expect((await party.userInfo(tokens.access_token)).status).toBe(401);
    expect((await tokensOf(code)).status).toBe(400);
  });
});

describe('a decision', () => {
  it('counts only for its request and its session, once', async () => {
    const page = await consentPage(await party.authorize({ scope: 'openid email' }));
    const evil = await thirdParty('Evil');
    const foreign = partyAt(app, world.project, evil);
    foreign.browser.cookies.set(
      `lk-session-${world.project.id}`,
      party.browser.cookies.get(`lk-session-${world.project.id}`) ?? '',
    );
    const other = await consentPage(await foreign.authorize({ scope: 'openid email' }), foreign);
    // The token of another request, of this one without its cookie, and none at all: the page is shown again.
    for (const csrf of [other.fields.csrf, 'x', '']) {
      expect((await decide(page, 'allow', party, { csrf })).status).toBe(200);
    }
    expect((await decide(page, 'allow', foreign)).status).toBe(400);
    expect((await decide(page, 'allow', party, { answer: 'perhaps' })).status).toBe(400);
    expect((await decide({ ...page, action: `${app.url}/authorize/consent` }, 'allow')).status).toBe(400);
    expect(await events()).toEqual([]);
    const form = { ...page.fields, answer: 'allow' };
    const action = new URL(page.action, app.url).href;
    const noted = await Promise.all(Array.from({ length: 20 }, () => party.browser.post(action, form)));
    expect(new Set(noted.map(({ status }) => status))).toEqual(new Set([303]));
    const ends = await Promise.all(noted.map((one) => party.browser.get(locationOf(one).href)));
    expect(ends.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(await events()).toEqual(['consent.given']);
    expect((await decide(page, 'cancel')).status).toBe(400);
  });

  it('of a user who has signed out or switched accounts in the meantime has no effect', async () => {
    const page = await consentPage(await party.authorize());
    const name = `lk-session-${world.project.id}`;
    party.browser.cookies.delete(name);
    expect(locationOf(await decide(page, 'allow')).pathname).toBe('/signin');
    const next = await registeredUser();
    await party.signIn(next.user);
    const shown = await read(await decide(page, 'allow'));
    expect(shown.html).toContain(next.address);
    expect(await events()).toEqual([]);
    const code = (await parametersOf(await decide(shown, 'allow'))).get('code') ?? '';
    const claims = await party.claims(((await (await party.exchange(code)).json()) as { id_token: string }).id_token);
    expect(claims.sub).toBe(next.user.id);
  });

  it('of one person does not count for the next one, with prompt=consent', async () => {
    const page = await consentPage(await party.authorize({ prompt: 'consent' }));
    const action = new URL(page.action, app.url).href;
    const noted = await party.browser.post(action, { ...page.fields, answer: 'cancel' });
    const next = await registeredUser();
    await party.signIn(next.user);
    const shown = await read(await party.browser.get(locationOf(noted).href));
    expect(shown.html).toContain(next.address);
  });
});

describe('a code for a third-party application exists only if its user’s consent covers its scopes', () => {
  let since: Date;
  beforeEach(() => {
    since = app.clock.now();
    app.clock.turn(1);
  });

  const uncovered = async () => {
    const statement = `select c.id from authorization_codes c join clients k on k.project_id = c.project_id and k.id = c.client_id
      where k.third_party and k.project_id = ? and c.created_at > ? and not exists (select from consents a where a.project_id = c.project_id
        and a.client_id = c.client_id and a.user_id = c.user_id and string_to_array(c.scope, ' ') <@ a.scopes)`;
    return app.services.db.reader().execute(statement, [world.project.id, since]);
  };
  const mark = () => app.services.clients.update(world.client, { thirdParty: true }, system);

  it('under a session, and after a sign-in', async () => {
    await party.answer({ prompt: 'none' });
    await consentPage(await party.authorize(lasting));
    await allow({ scope: 'openid' });
    await party.answer({ ...lasting, prompt: 'none' });
    const late = new RelyingParty(app, client);
    const flow = locationOf(await late.authorize({ scope: 'openid email' })).searchParams.get('flow') ?? '';
    await late.signIn(person.user);
    expect((await late.browser.get(`${app.url}/authorize/resume?${new URLSearchParams({ flow })}`)).status).toBe(200);
    expect(await uncovered()).toEqual([]);
  });

  it('when the account page confirms its user', async () => {
    await mark();
    const to = locationOf(await person.visit.change('confirm'));
    const other = new RelyingParty(app, world.client);
    for (const [name, value] of person.visit.browser.cookies) other.browser.cookies.set(name, value);
    await other.signIn(person.user);
    const done = await other.browser.get(`${app.url}/authorize/resume${to.search}`);
    expect([...locationOf(done).searchParams.keys()]).toEqual(['state']);
    expect(await uncovered()).toEqual([]);
  });

  it('in the browser SDK, even for sign-ins in progress and cached clients', async () => {
    const sibling = await buildSibling(app);
    const now = () => Math.floor(app.clock.now().getTime() / 1000);
    const credential = { origin: appOrigin, apiKey: world.apiKey };
    const stale = new SigninPage(sibling.url, credential, person.key, now);
    const begun = await world.page();
    await stale.challenge();
    await world.verifyAddress(begun, person.address);
    await mark();
    for (const refused of [
      await stale.step('authenticate', { userid: person.address }, 'use'),
      await begun.step('verify-device', { userid: person.address }, 'registration'),
    ]) {
      expect(refused).toMatchObject({ httpStatus: 403, error: { code: 'HOSTED_PAGE_REQUIRED' } });
    }
    await sibling.close();
    expect(await uncovered()).toEqual([]);
  });

  it('regardless of earlier checks by a caller', async () => {
    const columns = { projectId: world.project.id, clientId: client.id, userId: person.user.id, amr: ['swk'] };
    const issue = (scope: string) =>
      app.services.db.transaction((em) =>
        app.services.tokens.issueCode(em, { ...columns, scope, authTime: app.clock.now() }),
      );
    expect(await problemOf(issue('openid'))).toEqual({ code: 'hosted-page-required' });
    await allow({ scope: 'openid email' });
    await issue('openid');
    expect(await problemOf(issue('openid profile'))).toEqual({ code: 'hosted-page-required' });
    expect(await uncovered()).toEqual([]);
  });
});
