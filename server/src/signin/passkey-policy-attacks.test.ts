/** Attacks on a required passkey: the mailbox alone, recovery codes, and sign-ins that began before. */
import { describe, expect, it } from 'vitest';
import { SoftAuthenticator } from '../../test/authenticator.ts';
import type { HostedBrowser } from '../../test/hosted-browser.ts';
import { PasskeyUser } from '../../test/passkey-user.ts';
import { expectStatus, refusal, SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';

const world = SigninWorld.ofTests();
const person = PasskeyUser.ofTests(world);

describe('a second browser that holds only the mailbox', () => {
  it('does not pass on the hosted page', async () => {
    await person.enrolledUnderRequired();
    const hosted = await person.open();
    expectStatus(await person.byMail(hosted.page), 'DEVICE_REGISTERED');
    await person.isStopped(hosted.page);
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
    await person.enrolledUnderRequired();
    await world.app.services.clients.update(world.client, { relatedOrigins: true }, system);
    const page = await world.page();
    expectStatus(await person.byMail(page), 'DEVICE_REGISTERED');
    await person.isStopped(page);
    // A key that was trusted before does not pass either.
    const again = await world.page(page.key);
    await again.challenge();
    const answer = await again.step('authenticate', { userid: person.userid }, 'use');
    expect(answer.status).not.toBe('SUCCESS');
  });

  it('does not pass by an email factor', async () => {
    await world.set({ mfaPolicy: 'optional', emailFactor: true });
    const page = await world.page();
    await world.enrol(page, person.userid, { mfa_method: 'email' });
    expectStatus(
      await page.step('verify-mfa', { userid: person.userid, otp: await world.codeFor(person.userid) }, 'use'),
      'SUCCESS',
    );
    const hosted = await person.open();
    expectStatus(await person.byMail(hosted.page), 'DEVICE_REGISTERED');
    await enrolOnTop();
    await world.set({ passkeyPolicy: 'required' });
    const other = await person.open();
    expectStatus(await person.byMail(other.page), 'DEVICE_REGISTERED');
    await person.isStopped(other.page);
  });

  /** Adds a passkey for the user through the services. */
  async function enrolOnTop(): Promise<void> {
    const { db, passkeys: all, users } = world.app.services;
    const found = await world.findUser(person.userid);
    await db.transaction(async (em) => {
      const user = await users.locked(em, world.project.id, found?.id ?? '');
      const created = {
        ...{ credentialId: Buffer.from(person.userid).toString('base64url'), publicKey: 'AA', alg: -7 },
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
    const { secret } = await world.enrolTotp(await world.page(), person.userid);
    await enrolOnTop();
    await world.set({ passkeyPolicy: 'required' });
    const hosted = await person.open();
    expectStatus(await person.byMail(hosted.page), 'DEVICE_REGISTERED');
    await person.isStopped(hosted.page);
    const answer = await hosted.page.step('verify-mfa', { userid: person.userid, otp: world.totp(secret) }, 'use');
    expect(answer).toMatchObject(refusal('OUT_OF_ORDER', 409));
  });
});

describe('a recovery code', () => {
  it('in place of a lost passkey leads to a new one, and works once', async () => {
    const [otp] = await person.enrolledUnderRequired();
    person.authenticator = new SoftAuthenticator();
    const hosted = await person.open();
    expectStatus(await person.byMail(hosted.page), 'DEVICE_REGISTERED');
    expectStatus(await hosted.page.step('authenticate', { userid: person.userid }, 'use'), 'MFA_REQUIRED');
    expectStatus(
      await hosted.page.step('verify-mfa', { userid: person.userid, otp }, 'use'),
      'PASSKEY_ENROLLMENT_NEEDED',
    );
    expect(await person.rows('select id from sessions where project_id = ?')).toHaveLength(1);
    const done = expectStatus(await hosted.addPasskey(), 'SUCCESS');
    expect(await hosted.claims(done)).toMatchObject({ amr: ['swk', 'otp', 'mfa'] });
    const again = await person.open();
    expectStatus(await person.byMail(again.page), 'DEVICE_REGISTERED');
    expectStatus(await again.page.step('authenticate', { userid: person.userid }, 'use'), 'MFA_REQUIRED');
    expect(await again.page.step('verify-mfa', { userid: person.userid, otp }, 'use')).toMatchObject(
      refusal('CODE_REJECTED', 400),
    );
    expect(await world.events()).toContain('mfa.recovery_code_used');
  });

  it('can be tried five times in a sign-in', async () => {
    await person.enrolledUnderRequired();
    const hosted = await person.open();
    expectStatus(await person.byMail(hosted.page), 'DEVICE_REGISTERED');
    expectStatus(await hosted.page.step('authenticate', { userid: person.userid }, 'use'), 'MFA_REQUIRED');
    for (let n = 0; n < 5; n += 1) {
      const wrong = await hosted.page.step(
        'verify-mfa',
        { userid: person.userid, otp: `aaaa-bbbb-cccc-ddd${n}` },
        'use',
      );
      expect(wrong).toMatchObject(refusal('CODE_REJECTED', 400));
    }
    const over = await hosted.page.step('verify-mfa', { userid: person.userid, otp: 'aaaa-bbbb-cccc-dddd' }, 'use');
    expect(over).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
  });

  it('stays usable after malformed text, which does not count as an attempt', async () => {
    const [otp] = await person.enrolledUnderRequired();
    const { userid } = person;
    const hosted = await person.open();
    expectStatus(await person.byMail(hosted.page), 'DEVICE_REGISTERED');
    expectStatus(await hosted.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    for (let n = 0; n < 6; n += 1) {
      const other = await hosted.page.step('verify-mfa', { userid, otp: '123456' }, 'use');
      expect(other).toMatchObject(refusal('CODE_REJECTED', 400));
    }
    expectStatus(await hosted.page.step('verify-mfa', { userid, otp }, 'use'), 'PASSKEY_ENROLLMENT_NEEDED');
  });

  it('replaces a passkey if a second factor is required and a passkey is not', async () => {
    const [otp] = await person.enrolledUnderRequired();
    await world.set({ passkeyPolicy: 'allowed', mfaPolicy: 'required' });
    const hosted = await person.open();
    expectStatus(await person.byMail(hosted.page), 'DEVICE_REGISTERED');
    const asked = expectStatus(
      await hosted.page.step('authenticate', { userid: person.userid }, 'use'),
      'MFA_REQUIRED',
    );
    expect(asked['method']).toBe('passkey');
    const done = expectStatus(await hosted.page.step('verify-mfa', { userid: person.userid, otp }, 'use'), 'SUCCESS');
    expect((await hosted.claims(done))['amr']).toEqual(['swk', 'otp', 'mfa']);
  });

  it('of a user whose account has been deactivated is not accepted', async () => {
    const [otp] = await person.enrolledUnderRequired();
    const hosted = await person.open();
    expectStatus(await person.byMail(hosted.page), 'DEVICE_REGISTERED');
    expectStatus(await hosted.page.step('authenticate', { userid: person.userid }, 'use'), 'MFA_REQUIRED');
    const user = (await world.findUser(person.userid))?.id ?? '';
    await world.app.services.accountAccess.deactivate(world.project.id, user, system);
    expect((await hosted.page.step('verify-mfa', { userid: person.userid, otp }, 'use')).httpStatus).toBe(410);
  });
});

describe('a tightened policy', () => {
  it('invalidates sessions without proof of a passkey, and keeps the others', async () => {
    const other = await person.open();
    const mailed = expectStatus(await other.register(person.userid), 'SUCCESS');
    await other.claims(mailed);
    const hosted = await person.enrolled();
    const used = await person.open();
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

  it('applies to a flow that was about to be resumed', async () => {
    const hosted = await person.open();
    const done = expectStatus(await hosted.register(person.userid), 'SUCCESS');
    await world.set({ passkeyPolicy: 'required' });
    expect((await hosted.follow(done)).pathname).toBe('/signin');
  });

  it('applies to a sign-in between two of its steps', async () => {
    const hosted = await person.open();
    await world.verifyAddress(hosted.page, person.userid);
    await world.set({ passkeyPolicy: 'required' });
    expectStatus(
      await hosted.page.step('verify-device', { userid: person.userid }, 'registration'),
      'PASSKEY_ENROLLMENT_NEEDED',
    );
  });

  it('applies to a trusted device on an application page', async () => {
    const page = await world.page();
    expectStatus(await world.register(page, person.userid), 'SUCCESS');
    const signIn = async () => {
      await page.challenge();
      return page.step('authenticate', { userid: person.userid }, 'use');
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

  it('applies to a sign-in in which a factor is being set up', async () => {
    await world.set({ mfaPolicy: 'required' });
    const hosted = await person.open();
    await world.verifyAddress(hosted.page, person.userid);
    const begun = await hosted.page.step(
      'verify-device',
      { userid: person.userid, mfa_method: 'totp' },
      'registration',
    );
    expectStatus(begun, 'DEVICE_REGISTERED');
    const required = expectStatus(
      await hosted.page.step('authenticate', { userid: person.userid }, 'use'),
      'MFA_REQUIRED',
    );
    await world.set({ passkeyPolicy: 'required' });
    const late = await hosted.page.step(
      'initiate-mfa',
      { userid: person.userid, session_id: required['session_id'] },
      'use',
    );
    expect(late).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
  });
});
