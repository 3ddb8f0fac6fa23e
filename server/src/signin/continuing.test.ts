/** A sign-in continued with a new `txn` after DEVICE_REGISTERED, which requires the same page as before. */
import { beforeEach, expect, it } from 'vitest';
import { authorizationParameters, CookieBrowser, locationOf, pkce } from '../../test/browser.ts';
import { SigninPage } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';

const world = SigninWorld.ofTests({ mfaPolicy: 'required' });
let page: SigninPage;
let userid: string;

beforeEach(async () => {
  page = await world.page();
  userid = newAddress();
});

/** Signs in up to DEVICE_REGISTERED: the key is trusted, a factor is pending. */
async function begun(on = page, as = userid, fields: Record<string, unknown> = {}): Promise<void> {
  await world.verifyAddress(on, as, fields);
  const registered = await on.step('verify-device', { userid: as, mfa_method: 'totp' }, 'registration');
  expectStatus(registered, 'DEVICE_REGISTERED');
}

/** The status of `authenticate` with the page's key and a new `txn`. */
async function statusWithNewTxn(on = page): Promise<string> {
  await on.challenge();
  return (await on.step('authenticate', { userid }, 'use')).status;
}

it('a sign-in continues, even if other sign-ins reached the same step in between', async () => {
  await begun();
  await begun(await world.page(), newAddress());
  await begun(await world.page(), userid);
  expect(await statusWithNewTxn()).toBe('MFA_REQUIRED');
});

it('a sign-in starts over ten minutes after the earlier one', async () => {
  await begun();
  world.app.clock.turn(599);
  expect(await statusWithNewTxn()).toBe('MFA_REQUIRED');
  const late = await world.page();
  world.app.clock.turn(31);
  await begun(late);
  world.app.clock.turn(600);
  expect(await statusWithNewTxn(late)).toBe('OTP_NEEDED');
});

it('a sign-in starts over if the earlier one was a step-up', async () => {
  await begun(page, userid, { step_up: 'change_phone_number' });
  world.app.clock.turn(31);
  expect(await statusWithNewTxn()).toBe('OTP_NEEDED');
});

it('a sign-in starts over at another origin of the application', async () => {
  const [here, there] = ['https://a.example.com', 'https://b.example.com'];
  const redirectUris = [`${here}/callback`, `${there}/callback`];
  const { publishableKey } = await world.app.make.client(world.project, { redirectUris });
  const one = await world.page(page.key, { apiKey: publishableKey, origin: here });
  await begun(one);
  world.app.clock.turn(31);
  expect(await statusWithNewTxn(await world.page(page.key, { apiKey: publishableKey, origin: there }))).toBe(
    'OTP_NEEDED',
  );
  expect(await statusWithNewTxn(one)).toBe('MFA_REQUIRED');
});

it('a sign-in starts over for another request of the hosted page', async () => {
  const browser = new CookieBrowser();
  const hosted = async () => {
    const query = new URLSearchParams(authorizationParameters(world.client.id, pkce().challenge));
    const to = locationOf(await browser.get(`${world.app.url}/authorize?${query}`));
    const flow = to.searchParams.get('flow') as string;
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const now = () => Math.floor(world.app.clock.now().getTime() / 1000);
    return new SigninPage(world.app.url, { origin: world.app.url, flow, cookie }, page.key, now);
  };
  const one = await hosted();
  await begun(one);
  world.app.clock.turn(31);
  expect(await statusWithNewTxn(await hosted())).toBe('OTP_NEEDED');
  expect(await statusWithNewTxn(one)).toBe('MFA_REQUIRED');
  await one.challenge();
  const stepUp = { userid, step_up: 'change_phone_number' };
  expect(await one.step('authenticate', stepUp, 'use')).toMatchObject(refusal('INVALID_REQUEST', 400));
});
