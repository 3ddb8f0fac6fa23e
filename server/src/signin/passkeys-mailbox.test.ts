/** Limits of a mailbox whose user has a passkey. */
import { beforeEach, describe, expect, it } from 'vitest';
import { SoftAuthenticator } from '../../test/authenticator.ts';
import { passkeyVisits } from '../../test/passkey-visits.ts';
import { appOrigin, expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import { systemRandom } from '../adapters/system/random.ts';
import { system } from '../domain/kernel/actor.ts';
import { Enrolment } from '../domain/mfa/enrolment.entity.ts';

const world = SigninWorld.ofTests();
let userid: string;
let authenticator: SoftAuthenticator;

beforeEach(() => {
  userid = newAddress();
  authenticator = new SoftAuthenticator();
});

const { byMail, enrolled, open } = passkeyVisits(world, () => ({ userid, authenticator }));

describe('an attacker who reads the mail of a user with a passkey', () => {
  /** One of ten recovery codes, as the account page shows them after a mail code to a user who has no factor. */
  async function plantedCode() {
    const user = await world.findUser(userid);
    if (!user) throw new Error('there is no such user');
    const { db, mfa } = world.app.services;
    const [code = ''] = await db.transaction((em) => mfa.recoveryCodes.issue(em, user));
    return {
      code,
      isAccepted: () => db.transaction((em) => mfa.recoveryCodes.use(em, user, code)),
      left: () => mfa.recoveryCodes.left(db.reader(), user),
    };
  }

  async function addMailFactor() {
    const user = await world.findUser(userid);
    if (!user) throw new Error('there is no such user');
    const verifiedAt = world.app.clock.now();
    const factor = { id: systemRandom.id(), project: user.project, user, method: 'email' as const };
    await world.app.services.db.transaction(async (em) => {
      em.create(Enrolment, { ...factor, createdAt: verifiedAt, verifiedAt });
    });
  }

  it('does not pass REQUIRED: the passkey is required, and no other factor can be set up', async () => {
    await enrolled();
    await world.set({ mfaPolicy: 'required' });
    const { hosted, answer } = await byMail({ mfa_method: 'totp' });
    expectStatus(answer, 'DEVICE_REGISTERED');
    const asked = expectStatus(await hosted.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    expect(asked['method']).toBe('passkey');
    const started = await hosted.page.step('initiate-mfa', { userid, session_id: asked['session_id'] }, 'use');
    expect(started).toMatchObject(refusal('MFA_METHOD_NOT_ALLOWED', 400));
    // The passkey itself passes, and the list names the user's passkeys only.
    const { options } = await hosted.page.step('passkey-options', {});
    expect(options).toMatchObject({ userVerification: 'required', allowCredentials: [{ type: 'public-key' }] });
    const credential = authenticator.get(options, { origin: world.app.url });
    const done = expectStatus(await hosted.page.step('verify-passkey', { credential }), 'SUCCESS');
    expect((await hosted.claims(done))['amr']).toContain('mfa');
  });

  it('cannot add a factor or a passkey, and does not reach mfa', async () => {
    await enrolled();
    await world.set({ mfaPolicy: 'optional' });
    const { hosted, answer } = await byMail({ mfa_method: 'totp' });
    const done = expectStatus(answer, 'SUCCESS');
    expect(done['passkey_offer']).toBeUndefined();
    expect(await hosted.page.step('passkey-options', { purpose: 'registration' })).toMatchObject(
      refusal('TRANSACTION_EXPIRED', 410),
    );
    expect((await hosted.claims(done))['amr']).toEqual(['swk', 'otp']);
  });

  it.each(['allowed', 'off'] as const)('cannot change the phone, with passkeys %s', async (passkeyPolicy) => {
    await enrolled();
    await world.set({ passkeyPolicy });
    const page = await world.page();
    const ask = { userid, step_up: 'change_phone_number' };
    await page.challenge();
    expectStatus(await page.step('authenticate', ask), 'OTP_NEEDED');
    expectStatus(await page.step('verify-email-otp', { userid, otp: await world.codeFor(userid) }), 'SUCCESS');
    expectStatus(await page.step('verify-device', { userid }, 'registration'), 'DEVICE_REGISTERED');
    const number = { userid, phone_number: '+491701234777' };
    expect(await page.step('change-phone-number', number, 'use')).toMatchObject(refusal('OUT_OF_ORDER', 409));
    const asked = expectStatus(await page.step('authenticate', ask, 'use'), 'MFA_REQUIRED');
    expect(asked['method']).toBe('passkey');
    expect(await page.step('change-phone-number', number, 'use')).toMatchObject(refusal('OUT_OF_ORDER', 409));
  });

  it('has no recovery code left once the user adds a factor', async () => {
    await world.set({ mfaPolicy: 'optional' });
    const page = await world.page();
    await world.register(page, userid);
    const planted = await plantedCode();
    world.app.clock.turn(31);
    await world.enrolTotp(page, userid);
    expect(await planted.isAccepted()).toBe(false);
    expect(await planted.left()).toBe(10);
  });

  it.each(['no factor', 'mail codes'])('has no recovery code left once a user with %s adds a passkey', async (had) => {
    const hosted = await open();
    expectStatus(await hosted.register(userid), 'SUCCESS');
    const planted = await plantedCode();
    if (had === 'mail codes') await addMailFactor();
    expectStatus(await hosted.addPasskey(), 'PASSKEY_REGISTERED');
    expect([await planted.isAccepted(), await planted.left()]).toEqual([false, 0]);
  });

  it('adds no passkey with a recovery code used before the user adds one', async () => {
    await world.set({ mfaPolicy: 'optional' });
    const own = await open();
    const done = expectStatus(await own.register(userid), 'SUCCESS');
    await addMailFactor();
    const planted = await plantedCode();
    world.app.clock.turn(31);
    authenticator = new SoftAuthenticator();
    const { hosted, answer } = await byMail();
    expectStatus(answer, 'DEVICE_REGISTERED');
    expectStatus(await hosted.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    const used = expectStatus(await hosted.page.step('verify-mfa', { userid, otp: planted.code }, 'use'), 'SUCCESS');
    expect(used['passkey_offer']).toBe(true);
    hosted.keep(used);
    const { options } = await hosted.page.step('passkey-options', { purpose: 'registration' });
    const credential = authenticator.create(options, { origin: world.app.url });
    expectStatus(await own.addPasskey(), 'PASSKEY_REGISTERED');
    const { db, passkeys } = world.app.services;
    const added = await hosted.page.step('register-passkey', { credential });
    expect(added).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
    const owner = { projectId: world.project.id, userId: (await world.findUser(userid))?.id ?? '' };
    expect(await passkeys.list(db.reader(), owner)).toHaveLength(1);
    expect(await own.claims(done)).toHaveProperty('sub');
  });

  it.each(['the service', 'an application'])(
    'has no recovery code left once a passkey first verifies the user, on a page of %s',
    async (where) => {
      await enrolled({ flags: { UV: false } });
      const planted = await plantedCode();
      expectStatus(await (await open()).usePasskey({ flags: { UV: false } }), 'SUCCESS');
      expect(await planted.left()).toBe(10);
      if (where === 'the service') expectStatus(await (await open()).usePasskey(), 'SUCCESS');
      else {
        await world.app.services.clients.update(world.client, { relatedOrigins: true }, system);
        const page = await world.page();
        const { passkey_options: options } = await page.challenge({ passkey: true });
        const credential = authenticator.get(options, { origin: appOrigin });
        expectStatus(await page.step('verify-passkey', { credential }), 'SUCCESS');
      }
      expect([await planted.isAccepted(), await planted.left()]).toEqual([false, 0]);
      // Later codes are the user's own.
      const own = await plantedCode();
      expectStatus(await (await open()).usePasskey(), 'SUCCESS');
      expect(await own.left()).toBe(10);
    },
  );

  it('cannot use the passkey of one user for the address of another', async () => {
    await enrolled();
    const mine = authenticator;
    userid = newAddress();
    authenticator = new SoftAuthenticator();
    await enrolled();
    const { hosted } = await byMail();
    await world.set({ mfaPolicy: 'required' });
    const again = await open();
    await world.verifyAddress(again.page, userid);
    expectStatus(await again.page.step('verify-device', { userid }, 'registration'), 'DEVICE_REGISTERED');
    expectStatus(await again.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    const { options } = await again.page.step('passkey-options', {});
    delete options.allowCredentials;
    const credential = mine.get(options, { origin: world.app.url });
    expect(await again.page.step('verify-passkey', { credential })).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
    expect(hosted).toBeDefined();
  });
});
