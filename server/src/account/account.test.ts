import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf } from '../../test/account-visit.ts';
import { CookieBrowser } from '../../test/browser.ts';
import { buildSibling, type TestApp } from '../../test/build-app.ts';
import { changed, rows } from '../../test/rows.ts';
import { SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';
import { User } from '../domain/users/user.entity.ts';

const world = SigninWorld.ofTests();
const { visitOf, registeredUser, giveFactor } = peopleOf(world);
let app: TestApp;

beforeAll(() => {
  ({ app } = world);
});

const locationOf = (response: Response) => response.headers.get('location') ?? '';

describe('/account', () => {
  it('has the branding of its project', async () => {
    const { visit } = await registeredUser();
    const { experiences } = app.services;
    const texts = [{ locale: 'en', key: 'supportUrl', text: 'https://acme.example/help' }];
    const input = { displayName: 'Acme', accent: '#c81e3c', texts };
    await experiences.saveDraft({ projectId: world.project.id }, input, system);
    await experiences.publish({ projectId: world.project.id }, system);
    const html = await visit.page();
    expect(html).toContain('<strong>Acme</strong>');
    expect(html).toContain('/experience/accent/1/c81e3c.css');
    expect(html).toContain('<a href="https://acme.example/help" target="_blank" rel="noopener noreferrer">Help</a>');
  });

  it('shows only the user’s own profile, devices, sessions and second factors', async () => {
    const { address, user, visit } = await registeredUser();
    await giveFactor(user, 'email');
    const other = await registeredUser();
    const response = await visit.browser.get(`${app.url}/account`);
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(response.headers.get('content-security-policy')).toContain("form-action 'self'; frame-ancestors 'none'");
    const html = await response.text();
    for (const text of [address, 'This browser', 'Last used', 'Started', `${address[0]}…@example.com`]) {
      expect(html).toContain(text);
    }
    for (const text of [other.address, other.device.id, other.visit.sessionId]) expect(html).not.toContain(text);
    expect(html).not.toContain('undefined');
  });

  it.each([
    ['de', 'Geräte', 'Sitzungen'],
    ['es', 'Dispositivos', 'Sesiones'],
    ['fr', 'Appareils', 'Dernière activité'],
    ['ja', 'デバイス', 'セッション'],
  ])('is available in %s', async (language, ...texts) => {
    const { visit } = await registeredUser();
    const html = await (await visit.browser.get(`${app.url}/account`, { 'accept-language': language })).text();
    for (const text of texts) expect(html).toContain(text);
    expect(html).not.toMatch(/account\.\w|\{\w+\}/);
  });

  it('shows “You are not signed in” without a valid session, for any cookie or URL', async () => {
    const stranger = new CookieBrowser();
    for (const query of ['', '?project=x', `?project=${world.project.id}`, '?project=a&project=b']) {
      const page = await (await stranger.get(`${app.url}/account${query}`)).text();
      expect(page).toContain('You are not signed in');
      expect(page.includes('Sign in</button>')).toBe(query.includes(world.project.id));
    }
    stranger.cookies.set(`lk-session-${world.project.id}`, 'x'.repeat(43));
    stranger.cookies.set('lk-session-x', 'x');
    expect(await (await stranger.get(`${app.url}/account`)).text()).toContain('You are not signed in');
    const response = await stranger.post(`${app.url}/account`, {
      change: 'end-other-sessions',
      project: world.project.id,
    });
    expect([response.status, locationOf(response)]).toEqual([303, `/account?project=${world.project.id}`]);
    for (const change of ['end-other-sessions', 'sign-in']) {
      const unknown = await stranger.post(`${app.url}/account`, { change, project: 'x' });
      expect([unknown.status, locationOf(unknown)]).toEqual([303, '/account']);
    }
  });

  it('starts a sign-in that returns to this page, if the project is known', async () => {
    const stranger = new CookieBrowser();
    const known = `${app.url}/account?project=${world.project.id}`;
    expect(await (await stranger.get(`${app.url}/account`)).text()).not.toContain('Sign in</button>');
    expect(await (await stranger.get(known)).text()).toContain('Sign in</button>');
    stranger.cookies.set(`lk-session-${world.project.id}`, 'x'.repeat(43));
    expect(await (await stranger.get(`${app.url}/account`)).text()).toContain('Sign in</button>');
    const asked = { change: 'sign-in', project: world.project.id };
    const begun = await stranger.post(`${app.url}/account`, asked);
    expect([begun.status, locationOf(begun)]).toEqual([303, expect.stringMatching(/^\/signin\?flow=/)]);
    expect(begun.headers.get('cache-control')).toBe('no-store');
    const page = await stranger.get(`${app.url}${locationOf(begun)}`);
    expect(page.status).toBe(200);
    const foreign = await stranger.post(`${app.url}/account`, asked, { 'sec-fetch-site': 'cross-site' });
    expect(locationOf(foreign)).toBe(`/account?project=${world.project.id}`);
    const none = '00000000-0000-7000-8000-000000000000';
    const unknown = await stranger.post(`${app.url}/account`, { change: 'sign-in', project: none });
    expect(locationOf(unknown)).toBe(`/account?project=${none}`);
    stranger.cookies.set(`lk-session-${none}`, 'x'.repeat(43));
    const several = await (await stranger.get(`${app.url}/account`)).text();
    expect(several).toContain('You are not signed in');
    expect(several).not.toContain('Sign in</button>');
  });

  it('starts it with an enabled application of the organization itself, if there is one', async () => {
    const { db } = app.services;
    const begin = async () => {
      const begun = await new CookieBrowser().post(`${app.url}/account`, {
        change: 'sign-in',
        project: world.project.id,
      });
      return locationOf(begun);
    };
    const none = `/account?project=${world.project.id}`;
    await changed(db, 'update clients set third_party = true where id = ?', [world.client.id]);
    expect(await begin()).toBe(none);
    const { client } = await app.make.client(world.project);
    expect(await begin()).toMatch(/^\/signin\?flow=/);
    const requests = 'select client_id, issuer from authorization_requests where project_id = ?';
    expect(await rows(db, requests, [world.project.id])).toEqual([{ client_id: client.id, issuer: null }]);
    await changed(db, 'update clients set disabled_at = now() where id = ?', [client.id]);
    expect(await begin()).toBe(none);
  });

  it('fills in the address of an invitation, and still requires a code', async () => {
    await world.begin({ signUp: 'provisioned_only' });
    const email = "O'Neil+1@example.com";
    const { services } = app;
    await services.newUsers.add(world.project.id, { email, locale: 'fr' }, { invite: true }, system);
    await app.runJobs();
    const mail = app.mailbox.findLast(({ to }) => to === email);
    expect(mail).toMatchObject({ subject: 'Invitation à Example' });
    const link = /https?:\S+/.exec(mail?.text ?? '')?.[0] ?? '';
    expect(link).toContain(`/account?project=${world.project.id}&login_hint=`);
    const invitee = new CookieBrowser();
    const page = `${app.url}${link.slice(link.indexOf('/account'))}`;
    const html = await (await invitee.get(page)).text();
    expect(html).toContain('O&#39;Neil+');
    const field = /name="login_hint" value="([^"]+)"/.exec(html)?.[1]?.replaceAll('&#39;', "'") ?? '';
    expect(field).toBe(email);
    const form = { change: 'sign-in', project: world.project.id, login_hint: field };
    const begun = await invitee.post(`${app.url}/account`, form);
    expect(locationOf(begun)).toMatch(/^\/signin\?flow=/);
    const signIn = await (await invitee.get(`${app.url}${locationOf(begun)}`)).text();
    expect(signIn).toContain('value="O&#39;Neil+');
    // The address is confirmed: the next page sends the code. An address that was only filled in is not.
    expect(signIn).toContain('data-asked="account"');
    const plain = await invitee.post(`${app.url}/account`, { change: 'sign-in', project: world.project.id });
    expect(await (await invitee.get(`${app.url}${locationOf(plain)}`)).text()).toContain('data-asked=""');
    expect(await (await invitee.get(`${app.url}/account?project=${world.project.id}`)).text()).toContain(
      'not signed in',
    );

    // Another user of this browser sees the sign-in; the invited user sees the account.
    const { db, users } = services;
    const [other, user] = await Promise.all([
      db.transaction((em) => users.signUp(em, world.project.id, 'other@example.com', system)),
      users.findByAddress(db.reader(), world.project.id, email),
    ]);
    const query = `?project=${world.project.id}&login_hint=${encodeURIComponent(email)}`;
    expect(await (await visitOf(other)).page(query)).toContain('Sign in</button>');
    const own = await visitOf(user as User);
    expect(await own.page(query)).not.toContain('Sign in</button>');
    await changed(db, 'update users set user_name = ? where id = ?', ['neil', user?.id]);
    expect(await own.page(query)).not.toContain('Sign in</button>');
    await changed(db, 'update users set email = null, email_key = null where id = ?', [user?.id]);
    expect(await own.page(query)).toContain('Sign in</button>');
    const injected = await invitee.get(`${app.url}/account?project=${world.project.id}&login_hint=%22%3E%3Cscript%3E`);
    expect(await injected.text()).not.toContain('login_hint');
  });

  it('limits sign-ins per network, and stores nothing beyond the limit', async () => {
    const limited = await buildSibling(app, app.url, { authorizationsPerMinute: 2 });
    const asked = { change: 'sign-in', project: world.project.id };
    const begin = () => new CookieBrowser().post(`${limited.url}/account`, asked, { origin: app.url });
    const stored = () => rows(app.services.db, 'select id from authorization_requests');
    world.app.clock.turn(120);
    expect([(await begin()).status, (await begin()).status]).toEqual([303, 303]);
    const before = await stored();
    const refused = await begin();
    expect([refused.status, refused.headers.get('location')]).toEqual([429, null]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.text()).toContain('data-wait');
    expect(await stored()).toEqual(before);
    await limited.close();
  });

  it('shows no notice but those that follow a change', async () => {
    const { visit } = await registeredUser();
    const noticeOf = async (notice: string) =>
      /role="(?:status|alert)">([^<]+)</.exec(await visit.page(`?notice=${notice}`))?.[1]?.slice(0, 12);
    expect(await noticeOf('saved')).toBe('Saved.');
    expect(await noticeOf('name')).toBe('Enter a name');
    for (const other of ['form', 'stale', 'toString', '']) expect(await noticeOf(other)).toBeUndefined();
  });

  it('shows times in the zone of the user; else in UTC, for the script to change', async () => {
    const { visit } = await registeredUser();
    expect(await visit.page()).toMatch(/<time datetime="[^"]+Z" data-local>[^<]+UTC<\/time>/);
    await visit.change('edit-profile', { fields: 'zoneinfo', zoneinfo: 'Asia/Tokyo' });
    const html = await visit.page();
    expect(html).toMatch(/<time datetime="[^"]+Z">[^<]+GMT\+9<\/time>/);
    expect(html).not.toContain('data-local');
  });

  it('lets users choose between sessions of several projects', async () => {
    const policy = { idleTimeoutSeconds: 24 * 3600 };
    world.project = await app.services.projects.updateSessionPolicy(world.project.id, policy, system);
    const { address, visit } = await registeredUser();
    const first = world.project;
    await world.begin({ name: 'Second' });
    const { browser } = (await registeredUser()).visit;
    for (const [name, secret] of browser.cookies) visit.browser.cookies.set(name, secret);
    const html = await visit.page();
    expect(html).toContain('Which account?');
    expect(html).toContain(`/account?project=${first.id}`);
    const chosen = await visit.page(`?project=${first.id}`);
    expect(chosen).toContain(address);
    expect(chosen).not.toContain('Which account?');
  });

  it('extends the session of the account that it shows, not those to choose from, nor with a rejected form', async () => {
    const policy = { idleTimeoutSeconds: 3 * 3600 };
    world.project = await app.services.projects.updateSessionPolicy(world.project.id, policy, system);
    const first = world.project;
    const { visit } = await registeredUser();
    app.clock.turn(2 * 3600);
    expect(await visit.isSignedIn()).toBe(true);
    app.clock.turn(1.25 * 3600);
    const rejected = { change: 'end-other-sessions', project: first.id, csrf: '' };
    expect((await visit.browser.post(`${app.url}/account`, rejected)).status).toBe(403);
    await world.begin({ name: 'Second' });
    const { browser } = (await registeredUser()).visit;
    for (const [name, secret] of browser.cookies) visit.browser.cookies.set(name, secret);
    expect(await visit.page()).toContain('Which account?');
    app.clock.turn(1.25 * 3600);
    expect(await visit.page(`?project=${first.id}`)).toContain('You are not signed in');
  });

  it('escapes names', async () => {
    const { visit, device } = await registeredUser();
    await visit.change('rename-device', { id: device.id, name: '"><script>alert(1)</script>' });
    const html = await visit.page();
    expect(html).toContain('&lt;script&gt;alert(1)');
    expect(html).not.toContain('<script>alert');
  });
});

describe('a form', () => {
  it('is rejected without a CSRF token of its session, from another site, or with an unknown change', async () => {
    const { user, visit } = await registeredUser();
    const elsewhere = await visitOf(user);
    const foreign = await (await registeredUser()).visit.csrf();
    const bad: [string, Record<string, string>, Record<string, string>][] = [
      ['end-other-sessions', { csrf: '' }, {}],
      ['end-other-sessions', { csrf: 'x' }, {}],
      ['end-other-sessions', { csrf: foreign }, {}],
      ['end-other-sessions', { csrf: await elsewhere.csrf() }, {}],
      ['end-other-sessions', {}, { origin: 'https://evil.example' }],
      ['end-other-sessions', {}, { origin: 'null', 'sec-fetch-site': 'cross-site' }],
      ['end-other-sessions', {}, { 'sec-fetch-site': 'same-site' }],
      ['end-other-sessions', { id: '\0' }, {}],
      ['toString', {}, {}],
      ['', {}, {}],
    ];
    for (const [change, fields, headers] of bad) {
      const response = await visit.change(change, fields, headers);
      expect([change, fields, headers, response.status]).toEqual([change, fields, headers, 403]);
      expect(await response.text()).toContain('Nothing was changed');
    }
    const json = await fetch(`${app.url}/account`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        cookie: [...visit.browser.cookies].map((c) => c.join('=')).join(),
      },
      body: JSON.stringify({ change: 'end-other-sessions', project: world.project.id, csrf: await visit.csrf() }),
    });
    expect(json.redirected ? new URL(json.url).pathname : json.status).toBe('/account');
    expect(await elsewhere.isSignedIn()).toBe(true);
    const fine = { origin: 'null', 'sec-fetch-site': 'same-origin' };
    expect((await visit.change('end-other-sessions', {}, fine)).status).toBe(303);
    expect(await elsewhere.isSignedIn()).toBe(false);
  });

  it.each([
    ['rename-device', 303],
    ['revoke-device', 303],
    ['end-session', 303],
    ['remove-application', 303],
    ['remove-factor', 303],
    ['edit-profile', 303],
    ['edit-birthdate', 303],
    ['edit-address', 303],
    ['change-phone', 400],
    ['verify-phone', 400],
    ['change-email', 400],
    ['verify-email', 400],
    ['verify-authenticator', 409],
  ])('%s without its fields changes nothing', async (change, status) => {
    const { user, visit } = await registeredUser();
    const stored = () => app.services.db.reader().findOneOrFail(User, { id: user.id });
    const { version } = await stored();
    expect((await visit.change(change)).status).toBe(status);
    expect([(await stored()).version, await visit.isSignedIn()]).toEqual([version, true]);
  });
});
