import { MfaMethod } from '@latchkey/node';
import { generateSync } from 'otplib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newPasskey } from '../../test/account-visit.ts';
import { address, codeSentTo, type DelegationWorld, openDelegation, TestBackEnd, turn } from '../../test/back-end.ts';
import type { TestApp } from '../../test/build-app.ts';
import { arabicIndic } from '../../test/other-digits.ts';
import { listEvents } from '../domain/audit/events.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Enrolment } from '../domain/mfa/enrolment.entity.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { User } from '../domain/users/user.entity.ts';

let world: DelegationWorld;
let app: TestApp;
let backEnd: TestBackEnd;
let project: Project;
let ada: User;

const phone = '+12025550143';

beforeEach(async () => {
  world = await openDelegation();
  ({ app, backEnd, project, ada } = world);
});
afterEach(() => world.close());

const factors = () => app.services.mfa.factors(app.services.db.reader(), ada);
const methods = async () => (await factors()).map(({ method }) => method);

/** Enrolls a factor like a sign-in. */
async function enrolled(method: 'email' | 'sms' | 'totp', more: Partial<Enrolment> = {}): Promise<void> {
  await app.services.db.transaction(async (em) => {
    const enrolment = await app.services.mfa.begin(em, { user: ada, deviceId: null, method, phone: null });
    Object.assign(enrolment, { verifiedAt: app.clock.now(), ...more });
  });
}

function totpCode(secret: string): string {
  return generateSync({ secret, epoch: Math.floor(app.clock.now().getTime() / 1000) });
}

async function events(type: string) {
  const { items } = await listEvents(
    app.services.db.reader(),
    project.id,
    { types: [type] },
    { first: 50, after: null },
  );
  return items;
}

describe('a back end with the server library', () => {
  it('adds email as second factor', async () => {
    const library = await backEnd.delegationClient();
    expect(await library.getUserCredentials(address)).toEqual({ status: 'success', mfa_method: 'none' });
    const change = await library.initiateMfaChange({ userid: address, mfaMethod: MfaMethod.EMAIL });
    expect(change).toMatchObject({
      status: 'success',
      sent_to: 'a…@example.com',
      session_id: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(change).not.toHaveProperty('otp');
    expect(await methods()).toEqual([]);
    const otp = await codeSentTo(app, address);
    const verified = await library.verifyMfaChange({ userid: ada.id, sessionId: change.session_id, otp });
    expect(verified).toMatchObject({ status: 'success', mfa_method: 'email', recovery_codes: expect.any(Array) });
    expect(await library.getUserCredentials(ada.id)).toEqual({ status: 'success', mfa_method: 'email' });
  });

  it('finds a user by the sub of a former system, and none by a name that two users have', async () => {
    const library = await backEnd.delegationClient();
    await app.make.user(project, { subject: 'auth0|7' });
    expect(await library.getUserCredentials('auth0|7')).toEqual({ status: 'success', mfa_method: 'none' });
    expect(await library.getUserCredentials(address)).toEqual({ status: 'success', mfa_method: 'none' });
    await app.make.user(project, { subject: address });
    expect(await library.getUserCredentials(address)).toMatchObject({ status: 'failed', code: 'USER_NOT_FOUND' });
  });

  it('changes it to SMS; the old factor stays until the new one is verified, and the user is notified', async () => {
    await enrolled('email');
    const library = await backEnd.delegationClient();
    const change = await library.initiateMfaChange({
      userid: address,
      mfaMethod: 'sms',
      phoneNumber: '+1 (202) 555-0143',
    });
    expect(change).toMatchObject({ status: 'success', sent_to: '…0143' });
    expect(await methods()).toEqual(['email']);
    const otp = await codeSentTo(app, phone);
    const wrong = otp === '000000' ? '000001' : '000000';
    for (let tried = 0; tried < 2; tried += 1) {
      const refused = await library.verifyMfaChange({ userid: address, sessionId: change.session_id, otp: wrong });
      expect(refused).toMatchObject({ status: 'failed', code: 'CODE_REJECTED' });
    }
    expect(await methods()).toEqual(['email']);
    expect(await library.verifyMfaChange({ userid: address, sessionId: change.session_id, otp })).toMatchObject({
      status: 'success',
    });
    expect(await methods()).toEqual(['sms']);
    expect((await factors())[0]).toMatchObject({ phone });
    await app.runJobs();
    expect(app.mailbox.at(-1)).toMatchObject({ to: address, subject: expect.stringContaining('Second step changed') });
    const [changed] = await events('mfa.changed');
    expect(changed).toMatchObject({
      actorKind: 'client',
      actorId: backEnd.client.id,
      subjectId: ada.id,
      detail: { before: { factors: ['email'] }, after: { factors: ['sms'] } },
    });
    expect(await events('mfa.rejected')).toMatchObject([{ detail: { method: 'sms', count: 2 } }]);
  });

  it('changes it to an authenticator app, whose secret is returned once', async () => {
    await enrolled('sms', { phone });
    const library = await backEnd.delegationClient();
    const change = await library.initiateMfaChange({ userid: address, mfaMethod: 'totp' });
    expect(change.totp?.otpauth_uri).toMatch(/^otpauth:\/\/totp\/Example/);
    const otp = arabicIndic(totpCode(change.totp?.secret ?? ''));
    const verify = () => library.verifyMfaChange({ userid: address, sessionId: change.session_id, otp });
    expect(await verify()).toMatchObject({ status: 'success', mfa_method: 'totp' });
    expect(await methods()).toEqual(['totp']);
    expect(await verify()).toMatchObject({ status: 'failed', code: 'SESSION_EXPIRED' });
    expect(app.logLines.join()).not.toContain(change.totp?.secret);
  });

  it('completes a change once in twenty parallel attempts', async () => {
    const library = await backEnd.delegationClient();
    const { session_id: sessionId } = await library.initiateMfaChange({ userid: address, mfaMethod: 'email' });
    const otp = await codeSentTo(app, address);
    const tries = Array.from({ length: 20 }, () => library.verifyMfaChange({ userid: address, sessionId, otp }));
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 'success')).toHaveLength(1);
    expect(await methods()).toEqual(['email']);
  });

  it('has five attempts and ten minutes per change', async () => {
    const library = await backEnd.delegationClient();
    const { session_id: sessionId, totp } = await library.initiateMfaChange({ userid: address, mfaMethod: 'totp' });
    const verify = (otp: string) => library.verifyMfaChange({ userid: address, sessionId, otp });
    for (let tried = 0; tried < 5; tried += 1) expect((await verify('x')).code).toBe('CODE_REJECTED');
    expect((await verify(totpCode(totp?.secret ?? ''))).code).toBe('SESSION_EXPIRED');
    const later = await library.initiateMfaChange({ userid: address, mfaMethod: 'totp' });
    turn(app, 10 * 60);
    const otp = totpCode(later.totp?.secret ?? '');
    const expired = await library.verifyMfaChange({ userid: address, sessionId: later.session_id, otp });
    expect(expired.code).toBe('SESSION_EXPIRED');
    expect(await methods()).toEqual([]);
  });

  it('may send one code every 30 seconds', async () => {
    const library = await backEnd.delegationClient();
    const begin = () => library.initiateMfaChange({ userid: address, mfaMethod: 'email' });
    expect((await begin()).status).toBe('success');
    expect(await begin()).toMatchObject({ status: 'failed', code: 'RATE_LIMITED', retry_after: 30, session_id: '' });
    turn(app, 30);
    expect((await begin()).status).toBe('success');
  });

  it('is exempt from the limit per network, since it acts for many users', async () => {
    const library = await backEnd.delegationClient();
    for (let count = 0; count < 35; count += 1) {
      const user = await app.make.user(project);
      expect((await library.initiateMfaChange({ userid: user.id, mfaMethod: 'email' })).status).toBe('success');
    }
  });

  it.each([
    ['an unknown address', () => 'nobody@example.com'],
    ['an unknown id', () => crypto.randomUUID()],
    ['a malformed address', () => 'x'],
  ])('gets an error for %s', async (_, userid) => {
    const library = await backEnd.delegationClient();
    const refused = { status: 'failed', code: 'USER_NOT_FOUND' };
    expect(await library.getUserCredentials(userid())).toMatchObject(refused);
    expect(await library.initiateMfaChange({ userid: userid(), mfaMethod: 'email' })).toMatchObject(refused);
  });

  it('cannot change users of another project or inactive users', async () => {
    const stranger = await app.make.user(await app.make.project({ name: 'Other' }));
    const inactive = await app.make.user(project, { active: false });
    const library = await backEnd.delegationClient();
    for (const user of [stranger, inactive]) {
      expect((await library.getUserCredentials(user.id)).code).toBe('USER_NOT_FOUND');
      expect((await library.getUserCredentials(user.userName)).code).toBe('USER_NOT_FOUND');
      expect((await library.initiateMfaChange({ userid: user.id, mfaMethod: 'totp' })).code).toBe('USER_NOT_FOUND');
    }
  });

  it('cannot complete a change of another back end or for another user', async () => {
    const [library, other] = [
      await backEnd.delegationClient(),
      await (await TestBackEnd.of(app, project)).delegationClient(),
    ];
    const grace = await app.make.user(project);
    const { session_id: sessionId } = await library.initiateMfaChange({ userid: address, mfaMethod: 'email' });
    const otp = await codeSentTo(app, address);
    expect((await other.verifyMfaChange({ userid: address, sessionId, otp })).code).toBe('SESSION_EXPIRED');
    expect((await library.verifyMfaChange({ userid: grace.id, sessionId, otp })).code).toBe('SESSION_EXPIRED');
    const unknown = `${sessionId.slice(0, -1)}${sessionId.endsWith('A') ? 'B' : 'A'}`;
    expect((await library.verifyMfaChange({ userid: address, sessionId: unknown, otp })).code).toBe('SESSION_EXPIRED');
    expect((await library.verifyMfaChange({ userid: address, sessionId, otp })).status).toBe('success');
  });

  it('cannot complete a change of a user who has been deactivated', async () => {
    const library = await backEnd.delegationClient();
    const { session_id: sessionId, totp } = await library.initiateMfaChange({ userid: address, mfaMethod: 'totp' });
    await app.services.db.transaction((em) => em.execute('update users set active = false where id = ?', [ada.id]));
    const otp = totpCode(totp?.secret ?? '');
    expect((await library.verifyMfaChange({ userid: address, sessionId, otp })).code).toBe('SESSION_EXPIRED');
    expect(await methods()).toEqual([]);
  });

  it('cannot complete a change to a method that the project has stopped offering, and keeps its attempts', async () => {
    await enrolled('totp');
    const library = await backEnd.delegationClient();
    const { session_id: sessionId } = await library.initiateMfaChange({
      userid: address,
      mfaMethod: 'sms',
      phoneNumber: phone,
    });
    const otp = await codeSentTo(app, phone);
    const verify = () => library.verifyMfaChange({ userid: address, sessionId, otp });
    const { offeredFactors } = project;
    await app.services.projects.update(project.id, { offeredFactors: ['totp', 'email'] }, system);
    for (let tried = 0; tried < 6; tried += 1) {
      expect(await verify()).toMatchObject({ status: 'failed', code: 'MFA_METHOD_NOT_ALLOWED' });
    }
    expect(await methods()).toEqual(['totp']);
    await app.services.projects.update(project.id, { offeredFactors }, system);
    expect(await verify()).toMatchObject({ status: 'success' });
  });

  it('cannot change it to email if a factor is required and email does not count, before or after it begins', async () => {
    await enrolled('totp');
    const library = await backEnd.delegationClient();
    const begin = () => library.initiateMfaChange({ userid: address, mfaMethod: 'email' });
    const { session_id: sessionId } = await begin();
    const otp = await codeSentTo(app, address);
    const verify = () => library.verifyMfaChange({ userid: address, sessionId, otp });
    const refused = { status: 'failed', code: 'MFA_METHOD_NOT_ALLOWED' };
    await app.services.projects.update(project.id, { mfaPolicy: 'required', emailFactor: false }, system);
    expect(await begin()).toMatchObject(refused);
    expect(await verify()).toMatchObject(refused);
    expect(await methods()).toEqual(['totp']);
    await app.services.projects.update(project.id, { emailFactor: true }, system);
    expect(await verify()).toMatchObject({ status: 'success' });
  });

  it('gets no recovery codes of a user with a passkey, whose own stay valid', async () => {
    const { mfa, passkeys, db } = app.services;
    const registration = { user: ada, created: newPasskey(), createdBy: 'mail-code', actor: system } as const;
    const [own = ''] = await db.transaction(async (em) => {
      await passkeys.register(em, registration);
      return mfa.recoveryCodes.issue(em, ada);
    });
    const library = await backEnd.delegationClient();
    const { session_id: sessionId, totp } = await library.initiateMfaChange({ userid: address, mfaMethod: 'totp' });
    const otp = totpCode(totp?.secret ?? '');
    const verified = await library.verifyMfaChange({ userid: address, sessionId, otp });
    expect(verified.status).toBe('success');
    expect(verified).not.toHaveProperty('recovery_codes');
    expect(await db.transaction((em) => mfa.recoveryCodes.use(em, ada, own))).toBe(true);
  });

  it('gets no recovery codes for any factor that it adds for a user who has a passkey and no codes', async () => {
    const { mfa, passkeys, db } = app.services;
    const registration = { user: ada, created: newPasskey(), createdBy: 'mail-code', actor: system } as const;
    await db.transaction((em) => passkeys.register(em, registration));
    const library = await backEnd.delegationClient();
    for (const mfaMethod of ['totp', 'email'] as const) {
      const { session_id: sessionId, totp } = await library.initiateMfaChange({ userid: address, mfaMethod });
      const otp = totp ? totpCode(totp.secret) : await codeSentTo(app, address);
      const verified = await library.verifyMfaChange({ userid: address, sessionId, otp });
      expect(verified.status).toBe('success');
      expect(verified).not.toHaveProperty('recovery_codes');
    }
    expect(await mfa.recoveryCodes.left(db.reader(), ada)).toBe(0);
  });

  it('cannot change a phone number managed by a directory', async () => {
    const values = { provenance: 'scim', phone } as const;
    const provisioned = await app.make.user(project, values);
    const library = await backEnd.delegationClient();
    const begin = (phoneNumber: string) =>
      library.initiateMfaChange({ userid: provisioned.id, mfaMethod: 'sms', phoneNumber });
    expect(await begin('+12025550199')).toMatchObject({ status: 'failed', code: 'PHONE_LOCKED_BY_PROVISIONING' });
    expect(await begin(phone)).toMatchObject({ status: 'success' });
    expect(await begin('12')).toMatchObject({ status: 'failed', code: 'PHONE_INVALID' });
  });

  it('updates the phone number on record once the new one is verified', async () => {
    const user = await app.make.user(project, { phone });
    const library = await backEnd.delegationClient();
    const number = '+12025550177';
    const begun = await library.initiateMfaChange({ userid: user.id, mfaMethod: 'sms', phoneNumber: number });
    const otp = await codeSentTo(app, number);
    const phoneOf = async () => (await app.services.db.reader().findOneOrFail(User, { id: user.id })).phone;
    expect(await phoneOf()).toBe(phone);
    const tried = { userid: user.id, sessionId: begun.session_id, otp };
    expect((await library.verifyMfaChange(tried)).status).toBe('success');
    expect(await phoneOf()).toBe(number);
    await app.runJobs();
    expect(app.mailbox.some(({ to, text }) => to === phone && text.includes('0177'))).toBe(true);
  });

  it('cannot complete a change of a number that a directory has locked since', async () => {
    const user = await app.make.user(project, {});
    const library = await backEnd.delegationClient();
    const number = '+12025550178';
    const begun = await library.initiateMfaChange({ userid: user.id, mfaMethod: 'sms', phoneNumber: number });
    const otp = await codeSentTo(app, number);
    await app.services.db.transaction((em) =>
      em.execute("update users set provenance = 'scim', phone = '+12025550177' where id = ?", [user.id]),
    );
    const done = await library.verifyMfaChange({ userid: user.id, sessionId: begun.session_id, otp });
    expect(done).toMatchObject({ status: 'failed', code: 'PHONE_LOCKED_BY_PROVISIONING' });
  });

  it('receives one-time codes in test mode only', async () => {
    await app.services.projects.update(project.id, { testMode: true }, system);
    const library = await backEnd.delegationClient();
    const change = await library.initiateMfaChange({ userid: address, mfaMethod: 'email' });
    expect(change).toMatchObject({ otp: expect.stringMatching(/^\d{6}$/) });
  });

  it('sends messages in the language from the directory', async () => {
    const values = { attributes: { preferredLanguage: 'de-AT' } };
    const user = await app.make.user(project, values);
    await (await backEnd.delegationClient()).initiateMfaChange({ userid: user.id, mfaMethod: 'email' });
    await app.runJobs();
    expect(app.mailbox.at(-1)?.text).toContain('Ihr Code');
  });
});
