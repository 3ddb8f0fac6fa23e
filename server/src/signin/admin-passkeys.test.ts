/** Admins who have a passkey sign in to the console with it (decisions/0107). */
import { beforeEach, describe, expect, it } from 'vitest';
import { SoftAuthenticator } from '../../test/authenticator.ts';
import type { CookieBrowser } from '../../test/browser.ts';
import { HostedBrowser } from '../../test/hosted-browser.ts';
import { shellAt, testMasterKey } from '../../test/shell.ts';
import type { StepAnswer } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import { csrfHeader } from '../admin/api/server.ts';
import { Membership } from '../domain/admins/membership.entity.ts';
import { Passkey } from '../domain/credentials/passkey.entity.ts';
import { system } from '../domain/kernel/actor.ts';

const world = SigninWorld.ofTests();
let userid: string;
let authenticator: SoftAuthenticator;

beforeEach(async () => {
  const { services, make } = world.app;
  const planted = await services.seed.create({ demo: false });
  [world.project, world.client] = [planted.console, planted.consoleClient];
  await world.set({ mfaPolicy: 'optional', passkeyPolicy: 'allowed' });
  userid = newAddress();
  authenticator = new SoftAuthenticator();
  const user = await make.user(world.project, {
    userName: userid,
    userNameKey: userid,
    email: userid,
    emailKey: userid,
  });
  await grant('owner');

  async function grant(role: 'owner') {
    await services.db.transaction(async (em) => {
      const createdAt = world.app.clock.now();
      em.create(Membership, { id: user.id, user: [world.project.id, user.id], role, project: null, createdAt });
    });
  }
});

async function open(over: Record<string, string | undefined> = {}): Promise<HostedBrowser> {
  const hosted = new HostedBrowser(world, authenticator);
  await hosted.open({ redirect_uri: `${world.app.url}/admin/callback`, ...over });
  return hosted;
}

/** The admin who is signed in to the console in this browser, by address; or null. */
async function adminOf({ browser }: HostedBrowser): Promise<string | null> {
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await fetch(`${world.app.url}/admin/graphql`, {
    method: 'POST',
    headers: { cookie, 'Content-Type': 'application/json', [csrfHeader]: '1', Origin: world.app.url },
    body: JSON.stringify({ query: '{ me { name } }' }),
  });
  const { data } = (await response.json()) as { data?: { me?: { name: string } } };
  return data?.me?.name ?? null;
}

async function byMail(hosted: HostedBrowser): Promise<StepAnswer> {
  await world.verifyAddress(hosted.page, userid);
  return hosted.keep(await hosted.page.step('verify-device', { userid }, 'registration'));
}

describe('an admin without a passkey', () => {
  it('signs in by mail code, and keeps the session in which the first passkey was created; others end', async () => {
    const [other, hosted] = [await open(), await open()];
    expectStatus(await byMail(other), 'SUCCESS');
    expectStatus(await byMail(hosted), 'SUCCESS');
    expect([await adminOf(other), await adminOf(hosted)]).toEqual([userid, userid]);
    expectStatus(await hosted.addPasskey(), 'PASSKEY_REGISTERED');
    expect([await adminOf(other), await adminOf(hosted)]).toEqual([null, userid]);
  });

  it('is not locked out by a passkey that has not verified them', async () => {
    const [other, hosted] = [await open(), await open()];
    expectStatus(await byMail(other), 'SUCCESS');
    expectStatus(await byMail(hosted), 'SUCCESS');
    expectStatus(await hosted.addPasskey({ flags: { UV: false } }), 'PASSKEY_REGISTERED');
    expect([await adminOf(other), await adminOf(hosted)]).toEqual([userid, userid]);
  });
});

describe('an admin with a passkey', () => {
  let first: HostedBrowser;

  beforeEach(async () => {
    first = await open();
    expectStatus(await byMail(first), 'SUCCESS');
    expectStatus(await first.addPasskey(), 'PASSKEY_REGISTERED');
  });

  it('signs in with it', async () => {
    const hosted = await open();
    hosted.keep(expectStatus(await hosted.usePasskey(), 'SUCCESS'));
    expect(await adminOf(hosted)).toBe(userid);
  });

  it('does not sign in by the mailbox, nor by a device that was trusted before', async () => {
    const hosted = await open();
    expectStatus(await byMail(hosted), 'DEVICE_REGISTERED');
    const asked = expectStatus(await hosted.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    expect(asked['method']).toBe('passkey');
    const added = await hosted.page.step('passkey-options', { purpose: 'registration' });
    expect(added).toMatchObject(refusal('OUT_OF_ORDER', 409));
    expect(await adminOf(hosted)).toBeNull();
    // The device of the first sign-in.
    first.browser.cookies.clear();
    await first.open({ redirect_uri: `${world.app.url}/admin/callback` });
    await first.page.challenge();
    const trusted = expectStatus(await first.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    expect(trusted['method']).toBe('passkey');
  });

  it('does not reach the account page either', async () => {
    const hosted = await open();
    expectStatus(await byMail(hosted), 'DEVICE_REGISTERED');
    const page = await (await hosted.browser.get(`${world.app.url}/account?project=${world.project.id}`)).text();
    expect(page).toContain('You are not signed in');
  });

  it('is asked for the passkey again once a session without it exists, and not while passkeys are off', async () => {
    await world.set({ passkeyPolicy: 'off' });
    const hosted = await open();
    expectStatus(await byMail(hosted), 'SUCCESS');
    expect(await adminOf(hosted)).toBe(userid);
    await world.set({ passkeyPolicy: 'allowed' });
    expect(await adminOf(hosted)).toBeNull();
  });

  it('regains access by the link of admin:link, which leads to a new passkey and cannot be used twice', async () => {
    authenticator = new SoftAuthenticator();
    const url = await printedLink();
    const hosted = await byLink(url);
    expectStatus(await byMail(hosted), 'PASSKEY_ENROLLMENT_NEEDED');
    expect(await adminOf(hosted)).toBeNull();
    const second = await byLink(url);
    const done = hosted.keep(expectStatus(await hosted.addPasskey(), 'SUCCESS'));
    expect(done['recovery_codes']).toHaveLength(10);
    expect(await adminOf(hosted)).toBe(userid);
    const stranger = new SoftAuthenticator();
    await world.verifyAddress(second.page, userid);
    const answer = await second.page.step('verify-device', { userid }, 'registration');
    expect(answer.status).toBe('PASSKEY_ENROLLMENT_NEEDED');
    const { options } = await second.page.step('passkey-options', { purpose: 'registration' });
    const credential = stranger.create({ ...options, excludeCredentials: [] }, { origin: world.app.url });
    expect((await second.page.step('register-passkey', { credential })).httpStatus).toBe(410);
    expect(await adminOf(second)).toBeNull();
    const { db } = world.app.services;
    const where = { user: { id: (await world.findUser(userid))?.id ?? '' } };
    // The lost one and the new one: that of the second sign-in was not kept.
    expect(await db.reader().count(Passkey, where)).toBe(2);
    // The new passkey is now required, and can be used to remove the lost one.
    const again = await open();
    expectStatus(await again.usePasskey(), 'SUCCESS');
  });

  it('does not regain access by a link that has expired', async () => {
    const url = await printedLink();
    world.app.clock.turn(15 * 60 + 1);
    const browser = new HostedBrowser(world, authenticator).browser;
    const headers = { Origin: world.app.url, 'Sec-Fetch-Site': 'same-origin' };
    expect((await browser.get(url)).status).not.toBe(200);
    expect((await browser.post(`${world.app.url}/setup`, { email: userid }, headers)).status).not.toBe(303);
  });

  it('regains access by a recovery code of the setup link, which leads to a new passkey', async () => {
    const link = await world.app.services.admins.mintSetupLink(system);
    const claimed = await byLink(link.url);
    expectStatus(await byMail(claimed), 'PASSKEY_ENROLLMENT_NEEDED');
    const { recovery_codes: codes } = expectStatus(await claimed.usePasskey(), 'SUCCESS');
    authenticator = new SoftAuthenticator();
    const hosted = await open();
    expectStatus(await byMail(hosted), 'DEVICE_REGISTERED');
    expectStatus(await hosted.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    const recovered = await hosted.page.step('verify-mfa', { userid, otp: codes[0] }, 'use');
    expectStatus(recovered, 'PASSKEY_ENROLLMENT_NEEDED');
    hosted.keep(expectStatus(await hosted.addPasskey(), 'SUCCESS'));
    expect(await adminOf(hosted)).toBe(userid);
  });

  /** The link that the command prints. */
  async function printedLink(): Promise<string> {
    const { clock, databaseUrl: DATABASE_URL, url: BASE_URL } = world.app;
    const env = { DATABASE_URL, MASTER_KEY: testMasterKey, BASE_URL };
    const { code, out } = await shellAt(clock, env, 'admin:link');
    expect(code).toBe(0);
    return /http\S+/.exec(out)?.[0] ?? '';
  }

  /** A new browser that opens the setup link. */
  async function byLink(url: string): Promise<HostedBrowser> {
    const hosted = new HostedBrowser(world, authenticator);
    const browser: CookieBrowser = hosted.browser;
    await browser.get(url);
    const begun = await browser.post(
      `${world.app.url}/setup`,
      { email: userid },
      { Origin: world.app.url, 'Sec-Fetch-Site': 'same-origin' },
    );
    await hosted.show(new URL(begun.headers.get('location') ?? '', world.app.url));
    return hosted;
  }
});
