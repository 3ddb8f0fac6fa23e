/** A browser that holds only the mailbox of a user with a passkey and an email factor (decisions/0153). */
import { beforeEach, describe, expect, it } from 'vitest';
import { peopleOf, Visit } from '../../test/account-visit.ts';
import { SoftAuthenticator } from '../../test/authenticator.ts';
import { HostedBrowser } from '../../test/hosted-browser.ts';
import type { SigninPage, StepAnswer } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import type { Passkey } from '../domain/credentials/passkey.entity.ts';

const world = SigninWorld.ofTests();
const { givePasskey } = peopleOf(world);
let userid: string;
let passkey: Passkey;

beforeEach(async () => {
  await world.set({ mfaPolicy: 'optional', emailFactor: true });
  userid = newAddress();
  const page = await world.page();
  await world.enrol(page, userid, { mfa_method: 'email' });
  expectStatus(await page.step('verify-mfa', { userid, otp: await world.codeFor(userid) }, 'use'), 'SUCCESS');
  passkey = await givePasskey((await world.findUser(userid)) as never);
  world.app.clock.turn(31);
});

/** Registers the browser's key by mail code. The sign-in then requires a factor. */
async function registered(page: SigninPage): Promise<void> {
  await world.verifyAddress(page, userid);
  expectStatus(await page.step('verify-device', { userid }, 'registration'), 'DEVICE_REGISTERED');
  world.app.clock.turn(31);
}

/** The same if no factor is required: the email factor ends the sign-in, and the device is trusted. */
async function trusted(page: SigninPage): Promise<void> {
  const { mfaPolicy } = world.project;
  await world.set({ mfaPolicy: 'optional' });
  await registered(page);
  expectStatus(await answerFactor(page), 'SUCCESS');
  await world.set({ mfaPolicy });
}

/** A later sign-in with that key and the email factor. */
async function byFactor(page: SigninPage, fields: Record<string, unknown> = {}): Promise<StepAnswer> {
  await page.challenge();
  return answerFactor(page, fields);
}

async function answerFactor(page: SigninPage, fields: Record<string, unknown> = {}): Promise<StepAnswer> {
  const asked = expectStatus(await page.step('authenticate', { userid, ...fields }, 'use'), 'MFA_REQUIRED');
  expect(asked['method']).toBe('email');
  const { session_id } = asked;
  expectStatus(await page.step('initiate-mfa', { userid, session_id }, 'use'), 'MFA_INITIATED');
  const answer = await page.step('verify-mfa', { userid, otp: await world.codeFor(userid) }, 'use');
  world.app.clock.turn(31);
  return answer;
}

const rows = () =>
  world.app.services.db
    .reader()
    .execute<{ id: string }[]>(
      "select id from credentials where project_id = ? and kind = 'passkey' and revoked_at is null",
      [world.project.id],
    );

describe.each(['optional', 'required'] as const)('a second factor is %s: the mailbox alone', (mfaPolicy) => {
  beforeEach(() => world.set({ mfaPolicy }));

  it.each(['allowed', 'off'] as const)('does not reach mfa by a second sign-in; passkeys are %s', async (policy) => {
    await world.set({ passkeyPolicy: policy });
    const hosted = new HostedBrowser(world, new SoftAuthenticator());
    await hosted.open();
    await trusted(hosted.page);
    await hosted.open();
    const done = expectStatus(await byFactor(hosted.page), 'SUCCESS');
    expect((await hosted.claims(done))['amr']).toEqual(['swk', 'otp']);
    // Nor does that session change settings that the passkey protects.
    const secret = hosted.browser.cookies.get(`lk-session-${world.project.id}`) ?? '';
    const visit = new Visit(world.app.url, world.project.id, { id: '', secret });
    expect(await visit.isSignedIn()).toBe(true);
    expect((await visit.change('revoke-device', { id: passkey.id })).status).toBe(403);
    expect((await visit.change('renew-recovery-codes')).status).toBe(403);
    expect(await rows()).toEqual([{ id: passkey.id }]);
  });

  it('does not reach mfa on a page of an application', async () => {
    const page = await world.page();
    await trusted(page);
    const { code } = expectStatus(await byFactor(page), 'SUCCESS');
    expect(await world.amrOf(code)).toEqual(['swk', 'otp']);
  });
});

it.each([31, 601])('the mailbox twice is not enough if a second factor is required, %i s apart', async (seconds) => {
  await world.set({ mfaPolicy: 'required' });
  const page = await world.page();
  await registered(page);
  const asked = expectStatus(await page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
  expect(asked['method']).toBe('passkey');
  world.app.clock.turn(seconds);
  await page.challenge();
  expectStatus(await page.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
});

it('the mailbox alone adds no passkey: the existing passkey is required', async () => {
  const hosted = new HostedBrowser(world, new SoftAuthenticator());
  await hosted.open();
  await trusted(hosted.page);
  await hosted.open();
  const done = expectStatus(await byFactor(hosted.page), 'SUCCESS');
  expect(done['passkey_offer']).toBeUndefined();
  await hosted.follow(done);
  const secret = hosted.browser.cookies.get(`lk-session-${world.project.id}`) ?? '';
  const visit = new Visit(world.app.url, world.project.id, { id: '', secret });
  const asking = await visit.change('add-passkey');
  for (const [name, value] of visit.browser.cookies) hosted.browser.cookies.set(name, value);
  await hosted.show(new URL(asking.headers.get('location') ?? '', world.app.url));
  await hosted.page.challenge();
  const asked = expectStatus(await hosted.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
  expect(asked['method']).toBe('passkey');
  const begun = await hosted.page.step('initiate-mfa', { userid, session_id: asked['session_id'] }, 'use');
  expect(begun).toMatchObject(refusal('MFA_METHOD_NOT_ALLOWED', 400));
  const options = await hosted.page.step('passkey-options', { purpose: 'registration' });
  expect(options).toMatchObject(refusal('OUT_OF_ORDER', 409));
  expect(await rows()).toEqual([{ id: passkey.id }]);
});
