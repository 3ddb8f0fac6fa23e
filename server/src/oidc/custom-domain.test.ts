/** An issuer at its project's own host: its endpoints, and its separation from other hosts. */
import { decodeJwt } from 'jose';
import * as openid from 'openid-client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newPasskey } from '../../test/account-visit.ts';
import { SoftAuthenticator } from '../../test/authenticator.ts';
import { locationOf } from '../../test/browser.ts';
import { DomainWorld } from '../../test/custom-domain.ts';
import { redirectUri } from '../../test/factories.ts';
import { fetchHere } from '../../test/fetch-here.ts';
import { HostedBrowser } from '../../test/hosted-browser.ts';
import { apiOf, basic, machineOf } from '../../test/machine.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import { changed, rows } from '../../test/rows.ts';
import { newDeviceKey, SigninPage } from '../../test/signin-browser.ts';
import { appOrigin, expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import type { CustomDomain } from '../domain/domains/custom-domain.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import type { User } from '../domain/users/user.entity.ts';

const world = new SigninWorld();
let domains: DomainWorld;
let host: string;
let url: string;
let domain: CustomDomain;
let user: User;
let made = 0;

beforeAll(async () => {
  domains = await DomainWorld.open();
  world.app = domains.app;
});

afterAll(() => domains.close());

beforeEach(async () => {
  await world.begin();
  host = `login-${(made += 1)}.customer.example`;
  ({ domain, url } = await domains.verified(world.project, host));
  user = await world.user();
});

/** A relying party at an issuer, with a session of that issuer's host. */
async function partyOf(issuer: string, domainOfIt: string | null): Promise<RelyingParty> {
  const party = new RelyingParty(world.app, world.client, issuer);
  const signIn = { project: world.project, userId: user.id, amr: ['swk'], authTime: world.app.clock.now() };
  const { services } = world.app;
  const { secret } = await services.db.transaction((em) =>
    services.sessions.signIn(em, { ...signIn, freshAt: signIn.authTime, domain: domainOfIt, actor: system }),
  );
  party.browser.cookies.set(`lk-session-${world.project.id}`, secret);
  return party;
}

const atDomain = () => partyOf(url, host);
const atBase = () => partyOf(world.app.url, null);
const atSlug = () => partyOf(partyAt(world.app, world.project, world.client).issuer, null);
const get = (path: string, init: RequestInit = {}, at = url) =>
  fetchHere(`${at}${path}`, { redirect: 'manual', ...init });
const jsonOf = async (response: Response) => (await response.json()) as Record<string, unknown>;

describe('the issuer at a custom domain', () => {
  it('serves the metadata of SAML connections of its own project', async () => {
    const wanted = { projectId: world.project.id, kind: 'saml', preset: 'generic', name: 'Staff' } as const;
    const { id } = await world.app.services.connections.create(wanted, system);
    const path = `/connect/${id}/metadata`;
    expect(await (await get(path)).text()).toContain(`${url}/connect/${id}/acs`);
    await world.begin();
    const { url: foreign } = await domains.verified(world.project, `foreign-${host}`);
    const refused = await get(path, {}, foreign);
    expect([refused.status, await refused.text()]).toEqual([400, expect.not.stringContaining('EntityDescriptor')]);
  });

  it('serves its own documents, whose addresses all have its host', async () => {
    const document = await jsonOf(await get('/.well-known/openid-configuration'));
    expect(document['issuer']).toBe(url);
    const addresses = Object.entries(document).filter(([name]) => /_(endpoint|uri)$/.test(name));
    expect(addresses.length).toBeGreaterThan(8);
    for (const [, address] of addresses) expect(String(address).startsWith(`${url}/`)).toBe(true);
    expect(await jsonOf(await get('/.well-known/oauth-authorization-server'))).toEqual(document);
    expect((await jsonOf(await get('/.well-known/openid-configuration', {}, world.app.url)))['issuer']).toBe(
      world.app.url,
    );
    const keys = (await jsonOf(await get('/.well-known/jwks.json'))) as { keys: { kty: string }[] };
    expect(keys.keys.map(({ kty }) => kty)).toEqual(['EC']);
    expect(await jsonOf(await get('/.well-known/passkey-endpoints'))).toMatchObject({ manage: `${url}/account` });
    expect(await jsonOf(await get('/.well-known/webauthn'))).toEqual({ origins: [] });
  });

  it('signs in with openid-client 6', async () => {
    const signedIn = await atDomain();
    const options = { execute: [openid.allowInsecureRequests], [openid.customFetch]: fetchHere as openid.CustomFetch };
    const skew = Math.round((world.app.clock.now().getTime() - Date.now()) / 1000);
    const metadata = { [openid.clockSkew]: skew };
    const config = await openid.discovery(new URL(url), world.client.id, metadata, openid.None(), options);
    expect(config.serverMetadata().issuer).toBe(url);
    const verifier = openid.randomPKCECodeVerifier();
    const state = openid.randomState();
    const to = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: 'openid',
      state,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const back = locationOf(await signedIn.browser.get(to.href));
    const tokens = await openid.authorizationCodeGrant(config, back, {
      pkceCodeVerifier: verifier,
      expectedState: state,
    });
    expect(tokens.claims()).toMatchObject({ iss: url, sub: user.id });
    expect(await openid.fetchUserInfo(config, tokens.access_token, user.id)).toMatchObject({ sub: user.id });
  });

  it('reports a token for UserInfo as inactive to an API that has its address as identifier', async () => {
    const { apis } = world.app.services;
    const server = { ...(await machineOf(world.app, world.project)), issuer: url };
    const api = await apiOf(world.app, world.project, url);
    await apis.grant(server.client, api.id, { scopes: ['read'], introspects: true }, system);
    const ask = async (token: string) => {
      const body = new URLSearchParams({ token });
      return jsonOf(await get('/oauth2/introspect', { method: 'POST', body, headers: basic(server) }));
    };
    const form = new URLSearchParams({ grant_type: 'client_credentials' });
    const own = await jsonOf(await get('/oauth2/token', { method: 'POST', body: form, headers: basic(server) }));
    expect(await ask(String(own['access_token']))).toMatchObject({ active: true, aud: url });
    const { access_token } = await (await atDomain()).tokens();
    expect(decodeJwt(access_token).aud).toBe(url);
    expect(await ask(access_token)).toEqual({ active: false });
  });

  it('serves neither console nor admin API, nor other issuers, and no client of another project', async () => {
    const bootstrap = { Authorization: 'Bearer bootstrap-token-for-tests-0123456789' };
    const paths = [
      '/admin',
      '/admin/callback',
      '/admin/graphql',
      '/setup?token=x',
      '/demo',
      '/dev/mailbox',
      '/v1/delegation',
    ];
    for (const path of [...paths, `/v1/scim/${world.project.id}/Users`, `/p/${world.project.slug}/authorize`]) {
      expect([path, (await get(path, { headers: bootstrap })).status]).toEqual([path, 404]);
    }
    expect((await get('/')).headers.get('location')).toBe('/account');
    const query = {
      method: 'POST',
      headers: { ...bootstrap, 'Content-Type': 'application/json' },
      body: '{"query":"{me{name}}"}',
    };
    expect((await get('/admin/graphql', query)).status).toBe(404);
    const other = await world.app.make.client(await world.app.make.project());
    const foreignParty = new RelyingParty(world.app, other.client, url);
    const page = await foreignParty.authorize();
    expect(page.status).toBe(400);
    expect(await page.text()).toContain('<html');
    expect((await foreignParty.exchange('a-code')).status).toBe(401);
    const sdk = { origin: appOrigin, apiKey: world.apiKey };
    const step = await new SigninPage(url, sdk, await newDeviceKey(), () => 0).challenge();
    expect(step).toMatchObject(refusal('INVALID_API_KEY', 401));
  });

  it('issues codes and tokens that no other issuer accepts, and accepts none of theirs', async () => {
    const parties = [await atDomain(), await atBase(), await atSlug()];
    for (const issuing of parties) {
      const tokens = await issuing.tokens();
      expect(decodeJwt(tokens.id_token).iss).toBe(issuing.issuer);
      expect((await issuing.userInfo(tokens.access_token)).status).toBe(200);
      for (const accepting of parties.filter((one) => one !== issuing)) {
        const code = await issuing.code();
        const crossed = new RelyingParty(world.app, world.client, accepting.issuer);
        const { verifier } = issuing.proof;
        expect(await jsonOf(await crossed.exchange(code, { code_verifier: verifier }))).toMatchObject({
          error: 'invalid_grant',
        });
        expect((await accepting.userInfo(tokens.access_token)).status).toBe(401);
        const hinted = await accepting.endSession({ id_token_hint: tokens.id_token });
        expect(hinted.status).not.toBe(303);
        expect(await accepting.isSignedIn()).toBe(true);
      }
    }
  });

  it('keeps two domains of a project separate', async () => {
    const second = await domains.verified(world.project, `second.${host}`);
    const [one, two] = [await atDomain(), await partyOf(second.url, `second.${host}`)];
    const tokens = await one.tokens();
    expect((await two.userInfo(tokens.access_token)).status).toBe(401);
    two.browser.cookies.set(
      `lk-session-${world.project.id}`,
      one.browser.cookies.get(`lk-session-${world.project.id}`) ?? '',
    );
    expect(await two.isSignedIn()).toBe(false);
  });
});

describe('the Host header', () => {
  it('selects only verified domains; forwarded hosts select nothing', async () => {
    await domains.claim(world.project, `pending.${host}`);
    for (const name of [
      `pending.${host}`,
      `x.${host}`,
      'evil.example',
      'localhost',
      '10.0.0.1',
      '[::1]',
      `${host}.evil.example`,
    ]) {
      const issuer = (await jsonOf(await get('/.well-known/openid-configuration', {}, domains.urlOf(name))))['issuer'];
      expect([name, issuer]).toEqual([name, world.app.url]);
    }
    const forwarded = { 'X-Forwarded-Host': host, Forwarded: `host=${host}` };
    const base = await fetch(`${world.app.url}/.well-known/openid-configuration?`, { headers: forwarded });
    expect((await jsonOf(base))['issuer']).toBe(world.app.url);
  });

  it('of a domain that was removed gets 421 immediately', async () => {
    const signedIn = await atDomain();
    const { access_token } = await signedIn.tokens();
    const code = await signedIn.code();
    await domains.remove(domain);
    for (const path of ['/.well-known/openid-configuration', '/admin', '/account', '/signin', '/p/x/authorize']) {
      expect([path, (await get(path)).status]).toEqual([path, 421]);
    }
    expect((await signedIn.exchange(code)).status).toBe(421);
    expect((await signedIn.userInfo(access_token)).status).toBe(421);
    const html = await get('/admin', { headers: { Accept: 'text/html' } });
    expect(html.headers.get('content-security-policy')).toContain("default-src 'none'");
  });
});

describe('a session', () => {
  it('works only at the host that set its cookie', async () => {
    const name = `lk-session-${world.project.id}`;
    const [own, base, slug] = [await atDomain(), await atBase(), await atSlug()];
    const secret = own.browser.cookies.get(name) ?? '';
    const baseSecret = base.browser.cookies.get(name) ?? '';
    expect(await own.isSignedIn()).toBe(true);
    expect(await slug.isSignedIn()).toBe(true);
    for (const stolen of [secret, `${secret}@${host}`, `${secret}%40${host}`]) {
      base.browser.cookies.set(name, stolen);
      expect(await base.isSignedIn()).toBe(false);
      const page = await get('/account', { headers: { Cookie: `${name}=${stolen}` } }, world.app.url);
      expect(await page.text()).toContain('You are not signed in');
    }
    own.browser.cookies.set(name, baseSecret);
    expect(await own.isSignedIn()).toBe(false);
  });

  it('ends with the domain, as do its refresh tokens and device keys', async () => {
    const settings = {
      grantTypes: ['authorization_code' as const, 'refresh_token' as const],
      backchannelLogoutUri: 'https://app.example.com/bc',
    };
    const { clients, db } = world.app.services;
    await clients.update(keyIn(world.project.id, world.client.id), settings, system);
    const hosted = new HostedBrowser(world, new SoftAuthenticator(), url);
    const userid = newAddress();
    await hosted.open({ scope: 'openid offline_access' });
    await hosted.follow(expectStatus(await hosted.register(userid), 'SUCCESS'));
    const signedIn = await atDomain();
    const tokens = (await signedIn.tokens({ scope: 'openid offline_access' })) as unknown as Record<string, string>;
    const base = await atBase();
    await domains.remove(domain);
    await world.app.runJobs();
    expect(world.app.logoutTokens.map(({ token }) => decodeJwt(token).iss)).toContain(url);
    // The same project gets the host again.
    await domains.verified(world.project, host);
    expect(await signedIn.isSignedIn()).toBe(false);
    const refresh = {
      grant_type: 'refresh_token',
      refresh_token: tokens['refresh_token'],
      code: undefined,
      code_verifier: undefined,
    };
    expect(await jsonOf(await signedIn.exchange('', { ...refresh, redirect_uri: undefined }))).toMatchObject({
      error: 'invalid_grant',
    });
    const keys = await rows(
      db,
      `select id from credentials where project_id = ? and domain = ? and revoked_at is null`,
      [world.project.id, host],
    );
    expect(keys).toEqual([]);
    expect(await base.isSignedIn()).toBe(true);
  });
});

describe('the hosted page at a custom domain', () => {
  const hosted = (authenticator = new SoftAuthenticator(), at: string | undefined = url) =>
    new HostedBrowser(world, authenticator, at);

  it('signs in there, with device keys of that host', async () => {
    const userid = newAddress();
    const one = hosted();
    const to = await one.open();
    expect(to.origin).toBe(url);
    const page = await (await one.browser.get(to.href)).text();
    expect(page).toContain(url);
    expect(page).not.toContain(world.app.url);
    const done = expectStatus(await one.register(userid), 'SUCCESS');
    expect(new URL(done['redirect_to']).origin).toBe(url);
    expect(await one.claims(done)).toMatchObject({ iss: url });
    // The key is trusted here, and unknown at the base host.
    await one.open({ prompt: 'login' });
    await one.page.challenge();
    expectStatus(await one.page.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
    const second = hosted();
    second.page = one.page;
    await second.open();
    await second.page.challenge();
    expectStatus(await second.page.step('authenticate', { userid }, 'use'), 'SUCCESS');
    const base = hosted(undefined, world.app.url);
    base.page = one.page;
    await base.open();
    await base.page.challenge();
    expectStatus(await base.page.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
    const otp = await world.codeFor(userid);
    expectStatus(await base.page.step('verify-email-otp', { userid, otp }), 'SUCCESS');
    expect(await base.page.step('verify-device', { userid }, 'registration')).toMatchObject(
      refusal('DEVICE_REVOKED', 403),
    );
  });

  it('refuses a flow of another host, in every direction', async () => {
    const [own, base] = [hosted(), hosted(undefined, world.app.url)];
    const [toOwn, toBase] = [await own.open(), await base.open()];
    for (const [flow, browser, at, origin] of [
      [toOwn, own.browser, world.app.url, world.app.url],
      [toBase, base.browser, url, url],
    ] as const) {
      const crossed = `${at}${flow.pathname}${flow.search}`;
      expect((await browser.get(crossed)).status).toBe(400);
      const resumed = await browser.get(`${at}/authorize/resume${flow.search}`);
      expect(resumed.status).toBe(400);
      const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
      const credential = { origin, flow: flow.searchParams.get('flow') ?? '', cookie };
      const step = await new SigninPage(at, credential, await newDeviceKey(), () => 0).challenge();
      expect(step.httpStatus).toBe(410);
    }
    const cookie = [...own.browser.cookies].map((pair) => pair.join('=')).join('; ');
    const forged = { origin: world.app.url, flow: toOwn.searchParams.get('flow') ?? '', cookie };
    expect((await new SigninPage(url, forged, await newDeviceKey(), () => 0).challenge()).httpStatus).toBe(403);
  });

  it('uses passkeys of this host only', async () => {
    const [authenticator, userid] = [new SoftAuthenticator(), newAddress()];
    const one = hosted(authenticator);
    await one.open();
    expectStatus(await one.register(userid), 'SUCCESS');
    const added = expectStatus(await one.addPasskey({ origin: url }), 'PASSKEY_REGISTERED');
    expect(added['rp_id']).toBe(host);
    const again = hosted(authenticator);
    await again.open();
    const done = expectStatus(await again.usePasskey({ origin: url }), 'SUCCESS');
    expect(await again.claims(done)).toMatchObject({ iss: url });
    // Used at the base host, but signed for the relying-party id of the custom domain, as a foreign page could request.
    const base = hosted(authenticator, world.app.url);
    await base.open();
    const stolen = await base.usePasskey({
      origin: world.app.url,
      rpId: host,
      credentialId: added['credential_ids']?.[0],
    });
    expect(stolen).toMatchObject(refusal('PASSKEY_REJECTED', 401));
    expect(stolen.text).not.toContain('"unknown":true');
    // The base host does not offer it, but still requires a passkey: a mail code is not enough to add one.
    await world.set({ mfaPolicy: 'required' });
    const mail = hosted(new SoftAuthenticator(), world.app.url);
    await mail.open();
    await world.verifyAddress(mail.page, userid);
    const answer = await mail.page.step('verify-device', { userid }, 'registration');
    expectStatus(answer, 'DEVICE_REGISTERED');
    await mail.page.challenge();
    const owed = await mail.page.step('authenticate', { userid }, 'use');
    expect(owed).toMatchObject({ status: 'MFA_REQUIRED', method: 'passkey' });
    const { options } = expectStatus(await mail.page.step('passkey-options', {}), 'PASSKEY_OPTIONS');
    expect(options.allowCredentials).toEqual([]);
    expect(options.rpId).toBe('127.0.0.1');
  });
});

describe('the account page at a custom domain', () => {
  it('shows only this project, and accepts forms only from this host', async () => {
    const [own, base] = [await atDomain(), await atBase()];
    const page = await (await own.browser.get(`${url}/account`)).text();
    expect(page).toContain(`value="${world.project.id}"`);
    const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const form = { change: 'confirm', project: world.project.id, csrf };
    expect((await own.browser.post(`${url}/account`, form, { Origin: world.app.url })).status).toBe(403);
    const confirming = await own.browser.post(`${url}/account`, form, { Origin: url });
    const to = locationOf(confirming);
    expect(to.origin).toBe(url);
    expect((await own.browser.get(to.href)).status).toBe(200);
    // Another project's session in this jar is not shown here.
    const other = await world.app.make.project();
    await world.app.make.client(other);
    const { secret } = await world.app.make.session(other, await world.app.make.user(other));
    base.browser.cookies.set(`lk-session-${other.id}`, secret);
    const crossed = await base.browser.get(`${url}/account`);
    expect(await crossed.text()).toContain('You are not signed in');
    const signIn = { change: 'sign-in', project: world.project.id };
    const here = locationOf(await base.browser.post(`${url}/account`, signIn, { Origin: url }));
    expect([here.origin, (await base.browser.get(here.href)).status]).toEqual([url, 200]);
    const requests =
      'select issuer, redirect_uri from authorization_requests where project_id = ? order by id desc limit 1';
    const returning = { issuer: url, redirect_uri: `${url}/account/confirmed` };
    expect(await rows(world.app.services.db, requests, [world.project.id])).toEqual([returning]);
    const foreign = { change: 'sign-in', project: other.id };
    const begun = await base.browser.post(`${url}/account`, foreign, { Origin: url });
    expect([begun.status, begun.headers.get('location')]).toEqual([303, `/account?project=${other.id}`]);
    expect(await (await base.browser.get(`${url}/account?project=${other.id}`)).text()).not.toContain(other.id);
  });

  it('names to the browser only the passkeys of its host', async () => {
    const { db, passkeys } = world.app.services;
    const passkeyAt = async (domainOfIt: string | null) => {
      const registration = { user, created: newPasskey(), createdBy: 'mail-code', actor: system } as const;
      const { credentialId, id } = await db.transaction((em) => passkeys.register(em, registration));
      await changed(db, 'update credentials set domain = ? where id = ?', [domainOfIt, id]);
      return credentialId;
    };
    const ids = [await passkeyAt(host), await passkeyAt(null)];
    const named = async ({ browser }: RelyingParty, at: string) =>
      /data-passkeys="([^"]*)"/.exec(await (await browser.get(`${at}/account`)).text())?.[1];
    expect([await named(await atDomain(), url), await named(await atBase(), world.app.url)]).toEqual(ids);
  });

  it('is the target of links in mails', async () => {
    const { recoveries } = world.app.services;
    const email = newAddress();
    const lost = await world.user({ email, emailKey: email, userName: email, userNameKey: email });
    await recoveries.grant(world.project.id, lost.id, { reason: 'Lost phone', hours: 24 }, system);
    await world.app.runJobs();
    const mail = world.app.mailbox.findLast(({ to }) => to === email);
    const link = /http:\/\/\S+\/account\/recovery\?\S+/.exec(mail?.text ?? '')?.[0] ?? '';
    expect(new URL(link).origin).toBe(url);
    const second = await domains.verified(await world.app.make.project(), `other.${host}`);
    const { pathname, search } = new URL(link);
    expect((await get(`${pathname}${search}`, {}, second.url)).status).toBe(404);
    expect((await get(`${pathname}${search}`)).status).toBe(200);
    expect((await get(`${pathname}${search}`, {}, world.app.url)).status).toBe(200);
  });
});
