import { beforeEach, describe, expect, it } from 'vitest';
import { authorizationParameters, CookieBrowser, locationOf, pkce } from '../../test/browser.ts';
import { redirectUri } from '../../test/factories.ts';
import { type DeviceKey, newDeviceKey, SigninPage, type StepAnswer } from '../../test/signin-browser.ts';
import { appOrigin, claimsOf, expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';

const world = SigninWorld.ofTests();
let browser: CookieBrowser;
let key: DeviceKey;
let userid: string;
const { verifier, challenge } = pkce();

beforeEach(async () => {
  browser = new CookieBrowser();
  key = await newDeviceKey();
  userid = newAddress();
});

const cookieOf = (of: CookieBrowser) => [...of.cookies].map(([name, value]) => `${name}=${value}`).join('; ');

/** Changes the first character of each value; one value in 64 already begins with `_`. */
const withOtherSecrets = (cookie: string) =>
  cookie.replace(/=(.)/g, (_, first: string) => `=${first === '_' ? '-' : '_'}`);

/** Sends GET /authorize and returns the hosted page. */
async function begin(over: Record<string, string | undefined> = {}, clientId = world.client.id): Promise<string> {
  const query = new URLSearchParams(authorizationParameters(clientId, challenge, over));
  const response = await browser.get(`${world.app.url}/authorize?${query}`);
  const to = locationOf(response);
  if (to.pathname !== '/signin') throw new Error(`expected the sign-in page, got ${to.href}`);
  return to.searchParams.get('flow') as string;
}

function hosted(flow: string, over: { origin?: string; cookie?: string; key?: DeviceKey } = {}): SigninPage {
  const credential = { origin: world.app.url, flow, cookie: cookieOf(browser), ...over };
  return new SigninPage(world.app.url, credential, over.key ?? key, () =>
    Math.floor(world.app.clock.now().getTime() / 1000),
  );
}

/** Acts like the page after SUCCESS: stores the cookie and follows the redirect. */
async function returnToApplication(done: StepAnswer): Promise<URL> {
  for (const line of done.headers.getSetCookie()) {
    const [pair = ''] = line.split(';');
    browser.cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
  }
  return locationOf(await browser.get(done['redirect_to']));
}

async function signIn(flow: string): Promise<URL> {
  return returnToApplication(expectStatus(await world.register(hosted(flow), userid), 'SUCCESS'));
}

function redeem(back: URL) {
  const code = back.searchParams.get('code') as string;
  return world.exchange(code, { headers: {}, form: { code_verifier: verifier, redirect_uri: redirectUri } });
}

describe('a browser that is trusted on the hosted page', () => {
  it('is trusted at every client of the project, without another code', async () => {
    await signIn(await begin());
    const other = (await world.app.make.client(world.project)).client;
    const elsewhere = new CookieBrowser();
    browser = elsewhere;
    const page = hosted(await begin({}, other.id));
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
  });

  it('has a key that an application cannot use, and vice versa', async () => {
    await signIn(await begin());
    const application = await world.page(key);
    await application.challenge();
    expectStatus(await application.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
    const own = await world.page();
    userid = newAddress();
    expectStatus(await world.register(own, userid), 'SUCCESS');
    const other = (await world.app.make.client(world.project)).client;
    for (const { id } of [other, world.client]) {
      browser = new CookieBrowser();
      world.app.clock.turn(31);
      const page = hosted(await begin({}, id), { key: own.key });
      await page.challenge();
      expectStatus(await page.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
    }
  });

  it('does not register the key of its application, and vice versa', async () => {
    await signIn(await begin());
    world.app.clock.turn(31);
    expect(await world.register(await world.page(key), userid)).toMatchObject(refusal('DEVICE_REVOKED', 403));
    const own = await world.page();
    world.app.clock.turn(31);
    expectStatus(await world.register(own, userid), 'SUCCESS');
    world.app.clock.turn(31);
    browser = new CookieBrowser();
    const page = hosted(await begin(), { key: own.key });
    expect(await world.register(page, userid)).toMatchObject(refusal('DEVICE_REVOKED', 403));
  });

  it('is not trusted in another project', async () => {
    await signIn(await begin());
    await world.begin();
    browser = new CookieBrowser();
    const page = hosted(await begin());
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
  });

  it('stays trusted at the client that registered it before keys belonged to the project', async () => {
    await signIn(await begin());
    await world.app.services.db.reader().execute('update credentials set hosted = false where jkt = ?', [key.jkt]);
    browser = new CookieBrowser();
    const page = hosted(await begin());
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
  });
});

describe('the hosted page', () => {
  it('signs a user in to the requesting application, with an SSO session', async () => {
    const flow = await begin({ scope: 'openid email', nonce: 'n' });
    const done = expectStatus(await world.register(hosted(flow), userid), 'SUCCESS');
    expect(done).not.toHaveProperty('code');
    expect(done['redirect_to']).toBe(`${world.app.url}/authorize/resume?flow=${flow}`);
    const [cookie = ''] = done.headers.getSetCookie();
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).toMatch(/SameSite=Lax/);
    const back = await returnToApplication(done);
    expect(`${back.origin}${back.pathname}`).toBe(redirectUri);
    expect(back.searchParams.get('state')).toBe('a state');
    const { status, body } = await redeem(back);
    expect(status).toBe(200);
    expect(claimsOf(body['id_token'])).toMatchObject({
      nonce: 'n',
      amr: ['swk', 'otp'],
      email: userid,
      sid: expect.any(String),
    });
  });

  it('does not ask for a code on a trusted device, and is skipped while the session is active', async () => {
    await signIn(await begin());
    const silent = await browser.get(
      `${world.app.url}/authorize?${new URLSearchParams(authorizationParameters(world.client.id, challenge))}`,
    );
    expect(locationOf(silent).searchParams.get('code')).toBeTruthy();
    browser.cookies.clear();
    const page = hosted(await begin());
    await page.challenge();
    const done = expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
    expect((await returnToApplication(done)).searchParams.get('code')).toBeTruthy();
  });

  it.each([{ prompt: 'login' }, { max_age: '0' }])(
    'requires a mail code on a trusted device with %j',
    async (parameters) => {
      await signIn(await begin());
      world.app.clock.turn(31);
      const page = hosted(await begin(parameters));
      await page.challenge();
      expectStatus(await page.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
      expectStatus(await page.step('verify-email-otp', { userid, otp: await world.codeFor(userid) }), 'SUCCESS');
      const done = expectStatus(await page.step('verify-device', { userid }, 'registration'), 'SUCCESS');
      expect((await returnToApplication(done)).searchParams.get('code')).toBeTruthy();
    },
  );

  it('accepts only device keys of its own origin, not those of the application', async () => {
    const sdk = await world.page(key);
    await world.register(sdk, userid);
    world.app.clock.turn(60);
    const page = hosted(await begin());
    await page.challenge();
    const moved = { kind: 'use', claims: { org: appOrigin } } as const;
    expect(await page.step('authenticate', { userid }, moved)).toMatchObject(refusal('PROOF_REJECTED', 401));
  });

  it('continues only in the same browser, from its own origin, with the matching flow', async () => {
    const flow = await begin();
    const other = await begin();
    for (const over of [{ cookie: '' }, { cookie: 'lk-flow=x' }, { cookie: withOtherSecrets(cookieOf(browser)) }]) {
      expect(await hosted(flow, over).challenge()).toMatchObject(refusal('FLOW_EXPIRED', 410));
    }
    expect(await hosted('x'.repeat(43)).challenge()).toMatchObject(refusal('FLOW_EXPIRED', 410));
    for (const origin of [appOrigin, 'https://evil.example', 'null']) {
      expect(await hosted(flow, { origin }).challenge()).toMatchObject(refusal('ORIGIN_NOT_ALLOWED', 403));
    }
    const page = hosted(flow);
    await page.challenge();
    const elsewhere = hosted(other);
    elsewhere.txn = page.txn;
    expect(await elsewhere.step('authenticate', { userid })).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
  });

  it('does not share transactions with the client’s SDK', async () => {
    const page = hosted(await begin());
    await page.challenge();
    const sdk = await world.page(key);
    sdk.txn = page.txn;
    expect(await sdk.step('authenticate', { userid })).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
  });

  it('expires after 30 minutes, and ends with its code', async () => {
    const late = await begin();
    world.app.clock.turn(30 * 60);
    expect(await hosted(late).challenge()).toMatchObject(refusal('FLOW_EXPIRED', 410));
    const flow = await begin();
    await signIn(flow);
    expect(await hosted(flow).challenge()).toMatchObject(refusal('FLOW_EXPIRED', 410));
  });

  it('ends the session of another user who was signed in before', async () => {
    const first = await redeem(await signIn(await begin()));
    userid = newAddress();
    key = await newDeviceKey();
    const second = await redeem(await signIn(await begin({ prompt: 'login' })));
    const sids = [first, second].map(({ body }) => claimsOf(body['id_token'])['sid']);
    expect(sids[0]).not.toBe(sids[1]);
    const events = await world.events();
    expect(events).toContain('session.ended');
  });

  it('keeps the session of the same user, with a new secret', async () => {
    const first = await redeem(await signIn(await begin()));
    const before = cookieOf(browser);
    world.app.clock.turn(31);
    const second = await redeem(await signIn(await begin({ prompt: 'login' })));
    const sids = [first, second].map(({ body }) => claimsOf(body['id_token'])['sid']);
    expect(sids[0]).toBe(sids[1]);
    expect(cookieOf(browser)).not.toBe(before);
  });
});

describe('GET /signin', () => {
  const get = (flow: string, headers: Record<string, string> = {}) =>
    browser.get(`${world.app.url}/signin?${new URLSearchParams({ flow })}`, headers);

  it('is in the reader’s language, with a strict CSP', async () => {
    const flow = await begin({ login_hint: '"><script>alert(1)</script>@example.com' });
    const response = await get(flow, { 'Accept-Language': 'de' });
    expect(response.status).toBe(200);
    const csp = response.headers.get('content-security-policy');
    expect(csp).toContain("default-src 'none'");
    expect(csp).toContain("frame-ancestors 'none'");
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    const html = await response.text();
    expect(html).toContain('<html lang="de"');
    expect(html).toContain(`data-flow="${flow}"`);
    expect(html).not.toContain('<script>alert');
    expect(html).not.toMatch(/%\{/);
  });

  it('prefers ui_locales of the application', async () => {
    const html = await (await get(await begin({ ui_locales: 'xx ja en' }), { 'Accept-Language': 'de' })).text();
    expect(html).toContain('<html lang="ja"');
  });

  it('changes nothing', async () => {
    const flow = await begin();
    for (let n = 0; n < 3; n++) expect((await get(flow)).status).toBe(200);
    expect((await signIn(flow)).searchParams.get('code')).toBeTruthy();
  });

  it('is an error page for an unknown flow, another browser or no flow', async () => {
    const flow = await begin();
    browser = new CookieBrowser();
    for (const wrong of [flow, 'x', '']) {
      const response = await get(wrong);
      expect(response.status).toBe(400);
      expect(response.headers.get('content-type')).toContain('text/html');
    }
  });
});

describe('a setup link', () => {
  async function beginBySetupLink(setupLinkId: string) {
    const { services } = world.app;
    const { consoleClient } = await services.seed.create({ demo: false });
    const begun = await services.db.transaction((em) =>
      services.requests.begin(em, {
        projectId: consoleClient.project.id,
        clientId: consoleClient.id,
        redirectUri: `${world.app.url}/admin/callback`,
        scope: 'openid',
        codeChallenge: challenge,
        setupLinkId,
      }),
    );
    const cookie = `lk-flow-${begun.flow.slice(0, 16)}=${begun.browserSecret}`;
    return hosted(begun.flow, { cookie });
  }

  it('makes its holder an owner and shows recovery codes once, in a project without sign-up', async () => {
    const { services } = world.app;
    const { id } = await services.admins.mintSetupLink(system);
    const done = await world.register(await beginBySetupLink(id), userid);
    expectStatus(done, 'SUCCESS');
    expect(done['recovery_codes']).toHaveLength(10);
    expect(await services.admins.hasOwner()).toBe(true);
  });

  it('cannot be used twice, or after 15 minutes', async () => {
    const { services } = world.app;
    const used = await services.admins.mintSetupLink(system);
    await world.register(await beginBySetupLink(used.id), userid);
    const late = await services.admins.mintSetupLink(system);
    const second = await beginBySetupLink(used.id);
    const third = await beginBySetupLink(late.id);
    world.app.clock.turn(15 * 60);
    for (const page of [second, third]) {
      const unknown = newAddress();
      await page.challenge();
      expectStatus(await page.step('authenticate', { userid: unknown }), 'OTP_NEEDED');
      await expect(world.codeFor(unknown)).rejects.toThrow('no code');
    }
  });

  it('used by someone else during the sign-in grants neither a role nor a session', async () => {
    const { services } = world.app;
    const { id } = await services.admins.mintSetupLink(system);
    const [slow, quick] = [await beginBySetupLink(id), await beginBySetupLink(id)];
    const other = newAddress();
    await world.verifyAddress(slow, other);
    key = await newDeviceKey();
    expectStatus(await world.register(quick, userid), 'SUCCESS');
    const refused = await slow.step('verify-device', { userid: other }, 'registration');
    expect(refused).toMatchObject(refusal('FLOW_EXPIRED', 410));
    expect(refused.headers.getSetCookie()).toEqual([]);
  });
});
