/** Passkeys as a policy: of the project, of a client, and of admins. */
import { beforeEach, describe, expect, it } from 'vitest';
import { SoftAuthenticator } from '../../test/authenticator.ts';
import { HostedBrowser } from '../../test/hosted-browser.ts';
import type { SigninPage, StepAnswer } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';
import { Session } from '../domain/sessions/session.entity.ts';

const world = SigninWorld.ofTests();
let userid: string;
let authenticator: SoftAuthenticator;

beforeEach(() => {
  userid = newAddress();
  authenticator = new SoftAuthenticator();
});

async function open(over: Record<string, string | undefined> = {}): Promise<HostedBrowser> {
  const hosted = new HostedBrowser(world, authenticator);
  await hosted.open(over);
  return hosted;
}

/** A user with a passkey that verified them. */
async function enrolled(): Promise<HostedBrowser> {
  const hosted = await open();
  const done = expectStatus(await hosted.register(userid), 'SUCCESS');
  expectStatus(await hosted.addPasskey(), 'PASSKEY_REGISTERED');
  await hosted.claims(done);
  return hosted;
}

/** A new browser of somebody who reads the user's mail, up to the answer after the device was registered. */
async function byMail(page: SigninPage): Promise<StepAnswer> {
  await world.verifyAddress(page, userid);
  return page.step('verify-device', { userid }, 'registration');
}

/** That browser must use the passkey now, and gets nowhere without it. */
async function isStopped(page: SigninPage): Promise<void> {
  const asked = expectStatus(await page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
  expect(asked['method']).toBe('passkey');
  expect(await page.step('passkey-options', { purpose: 'registration' })).toMatchObject(refusal('OUT_OF_ORDER', 409));
  expect((await page.step('verify-mfa', { userid, otp: '000000' }, 'use')).httpStatus).toBeOneOf([400, 409]);
  expect(await page.step('verify-mfa', { userid, otp: 'aaaa-bbbb-cccc-dddd' }, 'use')).toMatchObject(
    refusal('CODE_REJECTED', 400),
  );
  const options = await page.step('initiate-mfa', { userid, session_id: asked['session_id'] }, 'use');
  expect(options).toMatchObject(refusal('MFA_METHOD_NOT_ALLOWED', 400));
}

const rows = (query: string) =>
  world.app.services.db.reader().execute<Record<string, unknown>[]>(query, [world.project.id]);
const passkeys = () => rows("select id, user_verified from credentials where project_id = ? and kind = 'passkey'");

describe('a project that requires passkeys', () => {
  beforeEach(() => world.set({ passkeyPolicy: 'required' }));

  it('ends the first sign-in with a new passkey, states no passkey sign-in, and gives recovery codes', async () => {
    const hosted = await open();
    expectStatus(await byMail(hosted.page), 'PASSKEY_ENROLLMENT_NEEDED');
    expect(await rows('select id from sessions where project_id = ?')).toEqual([]);
    const done = expectStatus(await hosted.addPasskey(), 'SUCCESS');
    expect(done['recovery_codes']).toHaveLength(10);
    expect(done['passkey_offer']).toBeUndefined();
    expect(await hosted.claims(done)).toMatchObject({ amr: ['swk', 'otp'], acr: 'urn:service:pwdless:v1' });
    // The session lasts; the next sign-in uses the passkey.
    expect((await hosted.open()).searchParams.has('code')).toBe(true);
    const again = await open();
    const claims = await again.claims(expectStatus(await again.usePasskey(), 'SUCCESS'));
    expect(claims['amr']).toEqual(['hwk', 'user', 'pop', 'mfa']);
  });

  it.each([
    ['without PIN or biometrics', { flags: { UV: false } }],
    ['for a challenge of a sign-in', { type: 'webauthn.get' }],
    ['on another origin', { origin: 'https://evil.example' }],
  ])('accepts no passkey that is created %s', async (_, over) => {
    const hosted = await open();
    expectStatus(await byMail(hosted.page), 'PASSKEY_ENROLLMENT_NEEDED');
    const { options } = await hosted.page.step('passkey-options', { purpose: 'registration' });
    expect(options.authenticatorSelection.userVerification).toBe('required');
    const credential = authenticator.create(options, { origin: world.app.url, ...over });
    expect(await hosted.page.step('register-passkey', { credential })).toMatchObject(refusal('PASSKEY_REJECTED', 401));
    expect(await passkeys()).toEqual([]);
    const quiet = await hosted.page.step('passkey-options', { purpose: 'conditional_registration' });
    expect(quiet).toMatchObject(refusal('OUT_OF_ORDER', 409));
    expectStatus(await hosted.addPasskey(), 'SUCCESS');
  });

  it('creates one passkey and one session if the step is sent 20 times at once', async () => {
    const hosted = await open();
    await byMail(hosted.page);
    const { options } = await hosted.page.step('passkey-options', { purpose: 'registration' });
    const credential = authenticator.create(options, { origin: world.app.url });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => hosted.page.step('register-passkey', { credential })),
    );
    expect(answers.filter(({ status }) => status === 'SUCCESS')).toHaveLength(1);
    expect(await passkeys()).toHaveLength(1);
    expect(await rows('select id from sessions where project_id = ?')).toHaveLength(1);
  });

  it('lets one of two sign-ins by mail create the first passkey; the other one then needs it', async () => {
    const [first, second] = [await open(), await open()];
    expectStatus(await byMail(first.page), 'PASSKEY_ENROLLMENT_NEEDED');
    expectStatus(await byMail(second.page), 'PASSKEY_ENROLLMENT_NEEDED');
    expectStatus(await first.addPasskey(), 'SUCCESS');
    const other = new SoftAuthenticator();
    const { options } = await second.page.step('passkey-options', { purpose: 'registration' });
    const credential = other.create({ ...options, excludeCredentials: [] }, { origin: world.app.url });
    const late = await second.page.step('register-passkey', { credential });
    expect(late).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
    expect(await passkeys()).toHaveLength(1);
    // With the passkey of the first one it can end.
    expectStatus(await second.usePasskey(), 'SUCCESS');
  });

  it('asks a trusted device for the mail code before a passkey is created, and never trusts it alone', async () => {
    await world.set({ passkeyPolicy: 'allowed' });
    const hosted = await open();
    expectStatus(await hosted.register(userid), 'SUCCESS');
    await world.set({ passkeyPolicy: 'required' });
    await hosted.open();
    await hosted.page.challenge();
    expectStatus(await hosted.page.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
    const otp = await world.codeFor(userid);
    expectStatus(await hosted.page.step('verify-email-otp', { userid, otp }), 'SUCCESS');
    const owed = await hosted.page.step('verify-device', { userid }, 'registration');
    expectStatus(owed, 'PASSKEY_ENROLLMENT_NEEDED');
    expectStatus(await hosted.addPasskey(), 'SUCCESS');
    await world.set({ passkeyPolicy: 'allowed' });
  });

  it('asks for the enrolled factor before a passkey is created, remembered or not', async () => {
    await world.set({ passkeyPolicy: 'allowed', mfaPolicy: 'optional', rememberMfaSeconds: 86_400 });
    const sdk = await world.page();
    const { secret } = await world.enrolTotp(sdk, userid);
    await world.set({ passkeyPolicy: 'required' });
    const hosted = await open();
    expectStatus(await byMail(hosted.page), 'DEVICE_REGISTERED');
    const asked = expectStatus(await hosted.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    expect(asked['method']).toBe('totp');
    const early = await hosted.page.step('passkey-options', { purpose: 'registration' });
    expect(early).toMatchObject(refusal('OUT_OF_ORDER', 409));
    expectStatus(
      await hosted.page.step('initiate-mfa', { userid, session_id: asked['session_id'] }, 'use'),
      'MFA_INITIATED',
    );
    const met = await hosted.page.step('verify-mfa', { userid, otp: world.totp(secret), remember_me: true }, 'use');
    expectStatus(met, 'PASSKEY_ENROLLMENT_NEEDED');
    const done = expectStatus(await hosted.addPasskey(), 'SUCCESS');
    // Recovery codes came with the factor.
    expect(done['recovery_codes']).toBeUndefined();
    expect((await hosted.claims(done))['amr']).toEqual(['swk', 'otp', 'mfa']);
  });

  it('replaces no enrollment of another factor: the passkey is both', async () => {
    await world.set({ mfaPolicy: 'required' });
    const hosted = await open();
    await world.verifyAddress(hosted.page, userid);
    const answer = await hosted.page.step('verify-device', { userid, mfa_method: 'totp' }, 'registration');
    expectStatus(answer, 'PASSKEY_ENROLLMENT_NEEDED');
    expectStatus(await hosted.addPasskey(), 'SUCCESS');
  });

  it('takes a passkey that has not verified its user yet, with PIN or biometrics', async () => {
    await world.set({ passkeyPolicy: 'allowed' });
    const first = await open();
    expectStatus(await first.register(userid), 'SUCCESS');
    expectStatus(await first.addPasskey({ flags: { UV: false } }), 'PASSKEY_REGISTERED');
    await world.set({ passkeyPolicy: 'required' });
    const hosted = await open();
    expectStatus(await byMail(hosted.page), 'PASSKEY_ENROLLMENT_NEEDED');
    expect(await hosted.usePasskey({ flags: { UV: false } })).toMatchObject(refusal('PASSKEY_REJECTED', 401));
    expectStatus(await hosted.usePasskey(), 'SUCCESS');
  });

  it('adds a second passkey at the account page only by the first one', async () => {
    await enrolledUnderRequired();
    const hosted = await open({ prompt: 'login' });
    expectStatus(await byMail(hosted.page), 'DEVICE_REGISTERED');
    await isStopped(hosted.page);
  });

  it('closes mid-flight if passkeys are turned off, and needs none if the policy is relaxed', async () => {
    const hosted = await open();
    expectStatus(await byMail(hosted.page), 'PASSKEY_ENROLLMENT_NEEDED');
    await world.set({ passkeyPolicy: 'off' });
    const off = await hosted.page.step('passkey-options', { purpose: 'registration' });
    expect(off).toMatchObject(refusal('PASSKEYS_NOT_ALLOWED', 403));
    await world.set({ passkeyPolicy: 'allowed' });
    expectStatus(await hosted.addPasskey(), 'SUCCESS');
  });
});

/** A user with a passkey, created in a sign-in that required it; the recovery codes. */
async function enrolledUnderRequired(): Promise<string[]> {
  await world.set({ passkeyPolicy: 'required' });
  const hosted = await open();
  expectStatus(await byMail(hosted.page), 'PASSKEY_ENROLLMENT_NEEDED');
  return expectStatus(await hosted.addPasskey(), 'SUCCESS')['recovery_codes'];
}

describe('a second browser that holds only the mailbox', () => {
  it('does not pass on the hosted page', async () => {
    await enrolledUnderRequired();
    const hosted = await open();
    expectStatus(await byMail(hosted.page), 'DEVICE_REGISTERED');
    await isStopped(hosted.page);
    const { options } = await hosted.page.step('passkey-options', {});
    expect(options).toMatchObject({ userVerification: 'required', allowCredentials: [{ type: 'public-key' }] });
    const stranger = new SoftAuthenticator();
    stranger.create(
      { challenge: 'x', rp: { id: '127.0.0.1' }, user: { id: 'AAAA' }, pubKeyCredParams: [{ alg: -7 }] },
      {
        origin: world.app.url,
      },
    );
    const forged = stranger.get({ ...options, rpId: '127.0.0.1', allowCredentials: [] }, { origin: world.app.url });
    expect((await hosted.page.step('verify-passkey', { credential: forged })).httpStatus).toBe(401);
  });

  it('does not pass on an application page that can use passkeys', async () => {
    await enrolledUnderRequired();
    await world.app.services.clients.update(world.client, { relatedOrigins: true }, system);
    const page = await world.page();
    expectStatus(await byMail(page), 'DEVICE_REGISTERED');
    await isStopped(page);
    // A key that was trusted before does not pass either.
    const again = await world.page(page.key);
    await again.challenge();
    const answer = await again.step('authenticate', { userid }, 'use');
    expect(answer.status).not.toBe('SUCCESS');
  });

  it('does not pass by an e-mail factor', async () => {
    await world.set({ mfaPolicy: 'optional', emailFactor: true });
    const page = await world.page();
    await world.enrol(page, userid, { mfa_method: 'email' });
    expectStatus(await page.step('verify-mfa', { userid, otp: await world.codeFor(userid) }, 'use'), 'SUCCESS');
    const hosted = await open();
    expectStatus(await byMail(hosted.page), 'DEVICE_REGISTERED');
    await enrolOnTop();
    await world.set({ passkeyPolicy: 'required' });
    const other = await open();
    expectStatus(await byMail(other.page), 'DEVICE_REGISTERED');
    await isStopped(other.page);
  });

  /** Adds a passkey for the user by the services, as at their own device. */
  async function enrolOnTop(): Promise<void> {
    const { db, passkeys: all, users } = world.app.services;
    const found = await world.findUser(userid);
    await db.transaction(async (em) => {
      const user = await users.locked(em, world.project.id, found?.id ?? '');
      const created = {
        ...{ credentialId: Buffer.from(userid).toString('base64url'), publicKey: 'AA', alg: -7 },
        ...{ aaguid: '00000000-0000-0000-0000-000000000000', signCount: 0, transports: [] },
        ...{
          backupEligible: false,
          backedUp: false,
          userVerified: true,
          attestedRoot: null,
          attestationFormat: 'none',
        },
      };
      if (user) await all.register(em, { user, created, createdBy: 'factor', actor: system });
    });
  }

  it('does not pass by the mailbox and an authenticator app that a page in the middle could relay', async () => {
    await world.set({ mfaPolicy: 'optional' });
    const { secret } = await world.enrolTotp(await world.page(), userid);
    await enrolOnTop();
    await world.set({ passkeyPolicy: 'required' });
    const hosted = await open();
    expectStatus(await byMail(hosted.page), 'DEVICE_REGISTERED');
    await isStopped(hosted.page);
    const answer = await hosted.page.step('verify-mfa', { userid, otp: world.totp(secret) }, 'use');
    expect(answer).toMatchObject(refusal('OUT_OF_ORDER', 409));
  });
});

describe('a recovery code', () => {
  it('in place of a lost passkey leads to a new one, and works once', async () => {
    const [otp] = await enrolledUnderRequired();
    authenticator = new SoftAuthenticator();
    const hosted = await open();
    expectStatus(await byMail(hosted.page), 'DEVICE_REGISTERED');
    expectStatus(await hosted.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    expectStatus(await hosted.page.step('verify-mfa', { userid, otp }, 'use'), 'PASSKEY_ENROLLMENT_NEEDED');
    expect(await rows('select id from sessions where project_id = ?')).toHaveLength(1);
    const done = expectStatus(await hosted.addPasskey(), 'SUCCESS');
    expect(await hosted.claims(done)).toMatchObject({ amr: ['swk', 'otp', 'mfa'] });
    const again = await open();
    expectStatus(await byMail(again.page), 'DEVICE_REGISTERED');
    expectStatus(await again.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    expect(await again.page.step('verify-mfa', { userid, otp }, 'use')).toMatchObject(refusal('CODE_REJECTED', 400));
    expect(await world.events()).toContain('mfa.recovery_code_used');
  });

  it('can be tried five times in a sign-in', async () => {
    await enrolledUnderRequired();
    const hosted = await open();
    expectStatus(await byMail(hosted.page), 'DEVICE_REGISTERED');
    expectStatus(await hosted.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    for (let n = 0; n < 5; n += 1) {
      const wrong = await hosted.page.step('verify-mfa', { userid, otp: `aaaa-bbbb-cccc-ddd${n}` }, 'use');
      expect(wrong).toMatchObject(refusal('CODE_REJECTED', 400));
    }
    const over = await hosted.page.step('verify-mfa', { userid, otp: 'aaaa-bbbb-cccc-dddd' }, 'use');
    expect(over).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
  });

  it('in place of a passkey passes where a second factor is required and passkeys are not', async () => {
    const [otp] = await enrolledUnderRequired();
    await world.set({ passkeyPolicy: 'allowed', mfaPolicy: 'required' });
    const hosted = await open();
    expectStatus(await byMail(hosted.page), 'DEVICE_REGISTERED');
    const asked = expectStatus(await hosted.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    expect(asked['method']).toBe('passkey');
    const done = expectStatus(await hosted.page.step('verify-mfa', { userid, otp }, 'use'), 'SUCCESS');
    expect((await hosted.claims(done))['amr']).toEqual(['swk', 'otp', 'mfa']);
  });

  it('of a user whose account has been deactivated is not accepted', async () => {
    const [otp] = await enrolledUnderRequired();
    const hosted = await open();
    expectStatus(await byMail(hosted.page), 'DEVICE_REGISTERED');
    expectStatus(await hosted.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    const user = (await world.findUser(userid))?.id ?? '';
    await world.app.services.accountAccess.deactivate(world.project.id, user, system);
    expect((await hosted.page.step('verify-mfa', { userid, otp }, 'use')).httpStatus).toBe(410);
  });
});

describe('a tightened policy', () => {
  it('ends the use of sessions that were not proved by a passkey, and keeps those that were', async () => {
    const other = await open();
    const mailed = expectStatus(await other.register(userid), 'SUCCESS');
    await other.claims(mailed);
    const hosted = await enrolled();
    const used = await open();
    await used.claims(expectStatus(await used.usePasskey(), 'SUCCESS'));
    const lasts = async (one: HostedBrowser) => {
      const page = await (await one.browser.get(`${world.app.url}/account?project=${world.project.id}`)).text();
      const isCoded = (await one.open()).searchParams.has('code');
      expect(!page.includes('You are not signed in')).toBe(isCoded);
      return isCoded;
    };
    expect([await lasts(other), await lasts(hosted), await lasts(used)]).toEqual([true, true, true]);
    await world.set({ passkeyPolicy: 'required' });
    expect([await lasts(other), await lasts(hosted), await lasts(used)]).toEqual([false, true, true]);
    await world.set({ passkeyPolicy: 'preferred' });
    expect(await lasts(other)).toBe(true);
  });

  it('reaches a flow that was about to be resumed', async () => {
    const hosted = await open();
    const done = expectStatus(await hosted.register(userid), 'SUCCESS');
    await world.set({ passkeyPolicy: 'required' });
    expect((await hosted.follow(done)).pathname).toBe('/signin');
  });

  it('reaches a sign-in between two of its steps', async () => {
    const hosted = await open();
    await world.verifyAddress(hosted.page, userid);
    await world.set({ passkeyPolicy: 'required' });
    expectStatus(await hosted.page.step('verify-device', { userid }, 'registration'), 'PASSKEY_ENROLLMENT_NEEDED');
  });

  it('reaches the shortcut of a trusted device on an application page', async () => {
    const page = await world.page();
    expectStatus(await world.register(page, userid), 'SUCCESS');
    const signIn = async () => {
      await page.challenge();
      return page.step('authenticate', { userid }, 'use');
    };
    expectStatus(await signIn(), 'SUCCESS');
    await world.app.services.clients.update(world.client, { relatedOrigins: true }, system);
    await world.set({ passkeyPolicy: 'required' });
    expectStatus(await signIn(), 'OTP_NEEDED');
    await world.set({ passkeyPolicy: 'allowed' });
    await world.app.services.clients.update(world.client, { passkeyRequired: true }, system);
    expectStatus(await signIn(), 'OTP_NEEDED');
    await world.app.services.clients.update(world.client, { passkeyRequired: false }, system);
    expectStatus(await signIn(), 'SUCCESS');
  });

  it('reaches a sign-in in which a factor is being set up', async () => {
    await world.set({ mfaPolicy: 'required' });
    const hosted = await open();
    await world.verifyAddress(hosted.page, userid);
    const begun = await hosted.page.step('verify-device', { userid, mfa_method: 'totp' }, 'registration');
    expectStatus(begun, 'DEVICE_REGISTERED');
    const owed = expectStatus(await hosted.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    await world.set({ passkeyPolicy: 'required' });
    const late = await hosted.page.step('initiate-mfa', { userid, session_id: owed['session_id'] }, 'use');
    expect(late).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
  });
});

describe('an application that requires passkeys', () => {
  beforeEach(() => world.app.services.clients.update(world.client, { passkeyRequired: true }, system));

  it('does not accept the session of another application', async () => {
    const { client } = await world.app.make.client(world.project);
    const hosted = await open({ client_id: client.id });
    const done = expectStatus(await hosted.register(userid), 'SUCCESS');
    expect((await hosted.follow(done)).searchParams.has('code')).toBe(true);
    // Signed in, but not for this application.
    expect((await hosted.open()).pathname).toBe('/signin');
    expect((await hosted.open({ prompt: 'none' })).searchParams.get('error')).toBe('login_required');
    await hosted.open();
    await hosted.page.challenge();
    expectStatus(await hosted.page.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
    const otp = await world.codeFor(userid);
    expectStatus(await hosted.page.step('verify-email-otp', { userid, otp }), 'SUCCESS');
    expectStatus(await hosted.page.step('verify-device', { userid }, 'registration'), 'PASSKEY_ENROLLMENT_NEEDED');
    expect((await hosted.follow(expectStatus(await hosted.addPasskey(), 'SUCCESS'))).searchParams.has('code')).toBe(
      true,
    );
    expect((await hosted.open()).searchParams.has('code')).toBe(true);
  });

  it('begins to require them while a flow waits to be resumed', async () => {
    await world.app.services.clients.update(world.client, { passkeyRequired: false }, system);
    const hosted = await open();
    const done = expectStatus(await hosted.register(userid), 'SUCCESS');
    await world.app.services.clients.update(world.client, { passkeyRequired: true }, system);
    expect((await hosted.follow(done)).pathname).toBe('/signin');
  });

  it('is closed while its project has turned passkeys off', async () => {
    await world.set({ passkeyPolicy: 'off' });
    const hosted = await open();
    await hosted.page.challenge();
    const answer = await hosted.page.step('authenticate', { userid });
    expect(answer).toMatchObject(refusal('PASSKEY_REQUIRED', 403));
  });
});

describe('an application page that cannot use passkeys', () => {
  it('is refused before a code is sent, for every address alike', async () => {
    await enrolledUnderRequired();
    const page = await world.page();
    await world.app.runJobs();
    const sent = world.app.mailbox.length;
    for (const address of [userid, newAddress()]) {
      await page.challenge();
      const answer = await page.step('authenticate', { userid: address });
      expect(answer).toMatchObject(refusal('PASSKEY_REQUIRED', 403));
      expect(answer['error'].category).toBe('fatal');
    }
    await world.app.runJobs();
    expect(world.app.mailbox).toHaveLength(sent);
  });

  it('keeps the recovery code of a sign-in that it cannot end', async () => {
    await world.app.services.clients.update(world.client, { relatedOrigins: true }, system);
    const [otp] = await enrolledUnderRequired();
    const page = await world.page();
    expectStatus(await byMail(page), 'DEVICE_REGISTERED');
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    await world.app.services.clients.update(world.client, { relatedOrigins: false }, system);
    const refused = await page.step('verify-mfa', { userid, otp }, 'use');
    expect(refused).toMatchObject(refusal('PASSKEY_REQUIRED', 403));
    expect(await rows('select id from recovery_codes where project_id = ? and used_at is not null')).toEqual([]);
  });
});

describe('a project that prefers passkeys', () => {
  it('offers one after a second factor, too; a device key alone still signs in and gets no offer', async () => {
    await world.set({ mfaPolicy: 'optional' });
    const hosted = await open();
    const { totp } = await world.enrol(hosted.page, userid, { mfa_method: 'totp' });
    await hosted.page.step('verify-mfa', { userid, otp: world.totp(totp.secret) }, 'use');
    world.app.clock.turn(31);
    const again = async () => {
      await hosted.open({ prompt: 'login' });
      await world.meetFactor(hosted.page, userid);
      world.app.clock.turn(31);
      return expectStatus(
        await hosted.page.step('verify-mfa', { userid, otp: world.totp(totp.secret) }, 'use'),
        'SUCCESS',
      );
    };
    expect((await again())['passkey_offer']).toBeUndefined();
    await world.set({ passkeyPolicy: 'preferred' });
    expect((await again())['passkey_offer']).toBe(true);
    expectStatus(await hosted.addPasskey(), 'PASSKEY_REGISTERED');
  });
});

it('a revoked passkey ends the session of the sign-in that created it', async () => {
  await enrolledUnderRequired();
  const [passkey] = await passkeys();
  const user = (await world.findUser(userid))?.id ?? '';
  await world.app.services.accountAccess.revokeDevice(world.project.id, user, String(passkey?.['id']), system);
  const open = await world.app.services.db.reader().count(Session, { project: world.project.id, endedAt: null });
  expect(open).toBe(0);
});
