/** Passkeys that a project or an application requires or prefers. */
import { beforeEach, describe, expect, it } from 'vitest';
import { SoftAuthenticator } from '../../test/authenticator.ts';
import { PasskeyUser } from '../../test/passkey-user.ts';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';
import { Session } from '../domain/sessions/session.entity.ts';

const world = SigninWorld.ofTests();
const person = PasskeyUser.ofTests(world);

describe('a project that requires passkeys', () => {
  beforeEach(() => world.set({ passkeyPolicy: 'required' }));

  it('ends the first sign-in with a new passkey, without claims of a passkey, and returns recovery codes', async () => {
    const hosted = await person.open();
    expectStatus(await person.byMail(hosted.page), 'PASSKEY_ENROLLMENT_NEEDED');
    expect(await person.rows('select id from sessions where project_id = ?')).toEqual([]);
    const done = expectStatus(await hosted.addPasskey(), 'SUCCESS');
    expect(done['recovery_codes']).toHaveLength(10);
    expect(done['passkey_offer']).toBeUndefined();
    expect(await hosted.claims(done)).toMatchObject({ amr: ['swk', 'otp'], acr: 'urn:service:pwdless:v1' });
    // The session lasts; the next sign-in uses the passkey.
    expect((await hosted.open()).searchParams.has('code')).toBe(true);
    const again = await person.open();
    const claims = await again.claims(expectStatus(await again.usePasskey(), 'SUCCESS'));
    expect(claims['amr']).toEqual(['hwk', 'user', 'pop', 'mfa']);
  });

  it.each([
    ['without PIN or biometrics', { flags: { UV: false } }],
    ['for a challenge of a sign-in', { type: 'webauthn.get' }],
    ['on another origin', { origin: 'https://evil.example' }],
  ])('accepts no passkey that is created %s', async (_, over) => {
    const hosted = await person.open();
    expectStatus(await person.byMail(hosted.page), 'PASSKEY_ENROLLMENT_NEEDED');
    const { options } = await hosted.page.step('passkey-options', { purpose: 'registration' });
    expect(options.authenticatorSelection.userVerification).toBe('required');
    const credential = person.authenticator.create(options, { origin: world.app.url, ...over });
    expect(await hosted.page.step('register-passkey', { credential })).toMatchObject(refusal('PASSKEY_REJECTED', 401));
    expect(await person.passkeys()).toEqual([]);
    const quiet = await hosted.page.step('passkey-options', { purpose: 'conditional_registration' });
    expect(quiet).toMatchObject(refusal('OUT_OF_ORDER', 409));
    expectStatus(await hosted.addPasskey(), 'SUCCESS');
  });

  it('creates one passkey and one session if the step is sent 20 times concurrently', async () => {
    const hosted = await person.open();
    await person.byMail(hosted.page);
    const { options } = await hosted.page.step('passkey-options', { purpose: 'registration' });
    const credential = person.authenticator.create(options, { origin: world.app.url });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => hosted.page.step('register-passkey', { credential })),
    );
    expect(answers.filter(({ status }) => status === 'SUCCESS')).toHaveLength(1);
    expect(await person.passkeys()).toHaveLength(1);
    expect(await person.rows('select id from sessions where project_id = ?')).toHaveLength(1);
  });

  it('lets one of two sign-ins by mail create the first passkey; the other one ends', async () => {
    const [first, second] = [await person.open(), await person.open()];
    expectStatus(await person.byMail(first.page), 'PASSKEY_ENROLLMENT_NEEDED');
    expectStatus(await person.byMail(second.page), 'PASSKEY_ENROLLMENT_NEEDED');
    const other = new SoftAuthenticator();
    const { options } = await second.page.step('passkey-options', { purpose: 'registration' });
    const credential = other.create(options, { origin: world.app.url });
    expectStatus(await first.addPasskey(), 'SUCCESS');
    const late = await second.page.step('register-passkey', { credential });
    expect(late).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
    expect(await person.passkeys()).toHaveLength(1);
    expectStatus(await (await person.open()).usePasskey(), 'SUCCESS');
  });

  it('asks a trusted device for the mail code before a passkey is created; the device key is never enough', async () => {
    await world.set({ passkeyPolicy: 'allowed' });
    const hosted = await person.open();
    expectStatus(await hosted.register(person.userid), 'SUCCESS');
    await world.set({ passkeyPolicy: 'required' });
    await hosted.open();
    await hosted.page.challenge();
    expectStatus(await hosted.page.step('authenticate', { userid: person.userid }, 'use'), 'OTP_NEEDED');
    const otp = await world.codeFor(person.userid);
    expectStatus(await hosted.page.step('verify-email-otp', { userid: person.userid, otp }), 'SUCCESS');
    const required = await hosted.page.step('verify-device', { userid: person.userid }, 'registration');
    expectStatus(required, 'PASSKEY_ENROLLMENT_NEEDED');
    expectStatus(await hosted.addPasskey(), 'SUCCESS');
    await world.set({ passkeyPolicy: 'allowed' });
  });

  it('asks for the enrolled factor before a passkey is created, remembered or not', async () => {
    await world.set({ passkeyPolicy: 'allowed', mfaPolicy: 'optional', rememberMfaSeconds: 86_400 });
    const sdk = await world.page();
    const { secret } = await world.enrolTotp(sdk, person.userid);
    await world.set({ passkeyPolicy: 'required' });
    const hosted = await person.open();
    expectStatus(await person.byMail(hosted.page), 'DEVICE_REGISTERED');
    const asked = expectStatus(
      await hosted.page.step('authenticate', { userid: person.userid }, 'use'),
      'MFA_REQUIRED',
    );
    expect(asked['method']).toBe('totp');
    const early = await hosted.page.step('passkey-options', { purpose: 'registration' });
    expect(early).toMatchObject(refusal('OUT_OF_ORDER', 409));
    expectStatus(
      await hosted.page.step('initiate-mfa', { userid: person.userid, session_id: asked['session_id'] }, 'use'),
      'MFA_INITIATED',
    );
    const met = await hosted.page.step(
      'verify-mfa',
      { userid: person.userid, otp: world.totp(secret), remember_me: true },
      'use',
    );
    expectStatus(met, 'PASSKEY_ENROLLMENT_NEEDED');
    const done = expectStatus(await hosted.addPasskey(), 'SUCCESS');
    // Recovery codes came with the factor.
    expect(done['recovery_codes']).toBeUndefined();
    expect((await hosted.claims(done))['amr']).toEqual(['swk', 'otp', 'mfa']);
  });

  it('makes the enrollment of another factor unnecessary: the passkey is both', async () => {
    await world.set({ mfaPolicy: 'required' });
    const hosted = await person.open();
    await world.verifyAddress(hosted.page, person.userid);
    const answer = await hosted.page.step(
      'verify-device',
      { userid: person.userid, mfa_method: 'totp' },
      'registration',
    );
    expectStatus(answer, 'PASSKEY_ENROLLMENT_NEEDED');
    expectStatus(await hosted.addPasskey(), 'SUCCESS');
  });

  it('accepts a passkey that has not verified its user before, with PIN or biometrics', async () => {
    await world.set({ passkeyPolicy: 'allowed' });
    const first = await person.open();
    expectStatus(await first.register(person.userid), 'SUCCESS');
    expectStatus(await first.addPasskey({ flags: { UV: false } }), 'PASSKEY_REGISTERED');
    await world.set({ passkeyPolicy: 'required' });
    const hosted = await person.open();
    expectStatus(await person.byMail(hosted.page), 'PASSKEY_ENROLLMENT_NEEDED');
    expect(await hosted.usePasskey({ flags: { UV: false } })).toMatchObject(refusal('PASSKEY_REJECTED', 401));
    expectStatus(await hosted.usePasskey(), 'SUCCESS');
  });

  it('adds a second passkey on the account page only after a sign-in with the first', async () => {
    await person.enrolledUnderRequired();
    const hosted = await person.open({ prompt: 'login' });
    expectStatus(await person.byMail(hosted.page), 'DEVICE_REGISTERED');
    await person.isStopped(hosted.page);
  });

  it('adds no passkey while passkeys are turned off mid-flight, and continues once they are allowed', async () => {
    const hosted = await person.open();
    expectStatus(await person.byMail(hosted.page), 'PASSKEY_ENROLLMENT_NEEDED');
    await world.set({ passkeyPolicy: 'off' });
    const off = await hosted.page.step('passkey-options', { purpose: 'registration' });
    expect(off).toMatchObject(refusal('PASSKEYS_NOT_ALLOWED', 403));
    await world.set({ passkeyPolicy: 'allowed' });
    expectStatus(await hosted.addPasskey(), 'SUCCESS');
  });
});

describe('an application that requires passkeys', () => {
  beforeEach(() => world.app.services.clients.update(world.client, { passkeyRequired: true }, system));

  it('does not accept the session of another application', async () => {
    const { client } = await world.app.make.client(world.project);
    const hosted = await person.open({ client_id: client.id });
    const done = expectStatus(await hosted.register(person.userid), 'SUCCESS');
    expect((await hosted.follow(done)).searchParams.has('code')).toBe(true);
    // Signed in, but not for this application.
    expect((await hosted.open()).pathname).toBe('/signin');
    expect((await hosted.open({ prompt: 'none' })).searchParams.get('error')).toBe('login_required');
    await hosted.open();
    await hosted.page.challenge();
    expectStatus(await hosted.page.step('authenticate', { userid: person.userid }, 'use'), 'OTP_NEEDED');
    const otp = await world.codeFor(person.userid);
    expectStatus(await hosted.page.step('verify-email-otp', { userid: person.userid, otp }), 'SUCCESS');
    expectStatus(
      await hosted.page.step('verify-device', { userid: person.userid }, 'registration'),
      'PASSKEY_ENROLLMENT_NEEDED',
    );
    expect((await hosted.follow(expectStatus(await hosted.addPasskey(), 'SUCCESS'))).searchParams.has('code')).toBe(
      true,
    );
    expect((await hosted.open()).searchParams.has('code')).toBe(true);
  });

  it('begins to require them while a flow waits to be resumed', async () => {
    await world.app.services.clients.update(world.client, { passkeyRequired: false }, system);
    const hosted = await person.open();
    const done = expectStatus(await hosted.register(person.userid), 'SUCCESS');
    await world.app.services.clients.update(world.client, { passkeyRequired: true }, system);
    expect((await hosted.follow(done)).pathname).toBe('/signin');
  });

  it('refuses sign-ins while its project has turned passkeys off', async () => {
    await world.set({ passkeyPolicy: 'off' });
    const hosted = await person.open();
    await hosted.page.challenge();
    const answer = await hosted.page.step('authenticate', { userid: person.userid });
    expect(answer).toMatchObject(refusal('PASSKEY_REQUIRED', 403));
  });
});

describe('an application page that cannot use passkeys', () => {
  it('is refused before a code is sent, for every address alike', async () => {
    await person.enrolledUnderRequired();
    const page = await world.page();
    await world.app.runJobs();
    const sent = world.app.mailbox.length;
    for (const address of [person.userid, newAddress()]) {
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
    const [otp] = await person.enrolledUnderRequired();
    const page = await world.page();
    expectStatus(await person.byMail(page), 'DEVICE_REGISTERED');
    expectStatus(await page.step('authenticate', { userid: person.userid }, 'use'), 'MFA_REQUIRED');
    await world.app.services.clients.update(world.client, { relatedOrigins: false }, system);
    const refused = await page.step('verify-mfa', { userid: person.userid, otp }, 'use');
    expect(refused).toMatchObject(refusal('PASSKEY_REQUIRED', 403));
    expect(await person.rows('select id from recovery_codes where project_id = ? and used_at is not null')).toEqual([]);
  });
});

describe('a project that prefers passkeys', () => {
  it('offers one after a second factor, too; a device key alone still signs in and gets no offer', async () => {
    await world.set({ mfaPolicy: 'optional' });
    const hosted = await person.open();
    const { totp } = await world.enrol(hosted.page, person.userid, { mfa_method: 'totp' });
    await hosted.page.step('verify-mfa', { userid: person.userid, otp: world.totp(totp.secret) }, 'use');
    world.app.clock.turn(31);
    const again = async () => {
      await hosted.open({ prompt: 'login' });
      await world.meetFactor(hosted.page, person.userid);
      world.app.clock.turn(31);
      const otp = world.totp(totp.secret);
      const done = await hosted.page.step('verify-mfa', { userid: person.userid, otp }, 'use');
      return expectStatus(hosted.keep(done), 'SUCCESS');
    };
    expect((await again())['passkey_offer']).toBeUndefined();
    await world.set({ passkeyPolicy: 'preferred' });
    expect((await again())['passkey_offer']).toBe(true);
    expectStatus(await hosted.addPasskey(), 'PASSKEY_REGISTERED');
  });
});

it('a revoked passkey ends the session of the sign-in that created it', async () => {
  await person.enrolledUnderRequired();
  const [passkey] = await person.passkeys();
  const user = (await world.findUser(person.userid))?.id ?? '';
  await world.app.services.accountAccess.revokeDevice(world.project.id, user, String(passkey?.['id']), system);
  const open = await world.app.services.db.reader().count(Session, { project: world.project.id, endedAt: null });
  expect(open).toBe(0);
});
