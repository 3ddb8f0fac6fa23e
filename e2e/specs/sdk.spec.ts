import { expect, type Page, test } from '@playwright/test';
import { SdkInPage, sdkPage } from '../clients/sdk-page.ts';
import { type Served, serve } from '../clients/serve.ts';
import { AdminApi } from '../support/admin-api.ts';
import { Application, type ClientSettings, Inbox, type ProjectSettings } from '../support/application.ts';
import { AuthenticatorApp, otherThan } from '../support/authenticator-app.ts';
import { type Latchkey, sharedAdjustableLatchkey } from '../support/latchkey.ts';

/** Service contract 3.3, row by row, through the SDK on another origin. */

let latchkey: Latchkey;
let admin: AdminApi;
let site: Served;

test.beforeAll(async () => {
  latchkey = await sharedAdjustableLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  await admin.ignoreMessages();
  site = await serve(() => sdkPage);
});

test.afterAll(async () => {
  await site.close();
});

const register = (settings: ProjectSettings & ClientSettings = {}): Promise<Application> =>
  Application.register(admin, latchkey, `${site.origin}/callback`, settings);

async function open(page: Page, application: Application): Promise<SdkInPage> {
  const sdk = await SdkInPage.open(page, site.origin);
  const answer = await sdk.init(application.publishableKey, latchkey.baseUrl);
  expect(answer).toMatchObject({ status: 'INITIALIZED', success: true });
  return sdk;
}

/** The response, if it has this status. */
function answered<Answer extends { status: string }, Status extends Answer['status']>(
  answer: Answer,
  status: Status,
): Extract<Answer, { status: Status }> {
  expect(answer).toMatchObject({ status, message: expect.any(String) });
  return answer as Extract<Answer, { status: Status }>;
}

/** Verifies the address, in a project in test mode. */
async function proveAddress(sdk: SdkInPage, userid: string): Promise<void> {
  const { code } = answered(await sdk.authenticate(userid), 'OTP_NEEDED');
  answered(await sdk.verifyEmailOtp({ userid, otp: code ?? '' }), 'SUCCESS');
}

/** Starts the second factor on a trusted device. */
async function meetFactor(sdk: SdkInPage, userid: string): Promise<void> {
  const { sessionId } = answered(await sdk.authenticate(userid), 'MFA_REQUIRED');
  answered(await sdk.initiateMfa({ userid, sessionId }), 'MFA_INITIATED');
}

test('a new browser verifies the address; after that it needs no code', async ({ page }) => {
  const application = await register();
  const userid = 'ada@example.com';
  const inbox = new Inbox(admin, userid);
  const sdk = await open(page, application);

  answered(await sdk.authenticate('ada@'), 'INVALID_EMAIL');
  const asked = answered(await sdk.authenticate(userid), 'OTP_NEEDED');
  expect(asked).toMatchObject({ deviceToken: expect.any(String), sentTo: 'a…@example.com', resendAfter: 30 });
  expect(asked).not.toHaveProperty('code');
  const otp = await inbox.code();
  await expect(sdk.verifyEmailOtp({ userid, otp: otherThan(otp) })).rejects.toMatchObject({
    code: 'CODE_REJECTED',
    category: 'user_action',
  });
  answered(await sdk.verifyEmailOtp({ userid, otp }), 'SUCCESS');
  const first = answered(await sdk.verifyDevice({ userid }), 'SUCCESS');
  const claims = await application.redeem(first.code);
  expect(claims).toMatchObject({ email: userid, email_verified: true, amr: ['swk', 'otp'] });
  expect(claims).not.toHaveProperty('sid');
  await expect(application.redeem(first.code)).rejects.toMatchObject({ code: 'INVALID_GRANT' });

  await page.reload();
  const later = await open(page, application);
  const second = answered(await later.authenticate(userid), 'SUCCESS');
  expect(second.success).toBe(true);
  expect(await application.redeem(second.code)).toMatchObject({ sub: claims.sub, amr: ['swk'] });

  await test.step('with a challenge, the code needs its verifier', async () => {
    const { codeVerifier, codeChallenge, codeChallengeMethod } = await later.createPkce();
    const options = { code_challenge: codeChallenge, code_challenge_method: codeChallengeMethod };
    const third = answered(await later.authenticate(userid, options), 'SUCCESS');
    expect(await application.redeem(third.code, { codeVerifier })).toMatchObject({ sub: claims.sub });
    const fourth = answered(await later.authenticate(userid, options), 'SUCCESS');
    await expect(application.redeem(fourth.code)).rejects.toMatchObject({ code: 'INVALID_GRANT' });
  });
});

test('an optional second factor is required only if enrolled', async ({ page }) => {
  const application = await register({ mfaPolicy: 'OPTIONAL', testMode: true });
  const sdk = await open(page, application);
  const [without, userid] = ['without@example.com', 'with@example.com'];

  await proveAddress(sdk, without);
  const done = answered(await sdk.verifyDevice({ userid: without }), 'SUCCESS');
  expect(await application.redeem(done.code)).toMatchObject({ amr: ['swk', 'otp'] });

  await proveAddress(sdk, userid);
  answered(await sdk.verifyDevice({ userid, mfaMethod: 'email' }), 'DEVICE_REGISTERED');
  const { sessionId, method } = answered(await sdk.authenticate(userid), 'MFA_REQUIRED');
  expect(method).toBe('email');
  const started = answered(await sdk.initiateMfa({ userid, sessionId }), 'MFA_INITIATED');
  expect(started).toMatchObject({ method: 'email', sentTo: 'w…@example.com', resendAfter: 30 });
  const met = answered(await sdk.verifyMfa({ userid, otp: started.code ?? '' }), 'SUCCESS');
  expect(met).toMatchObject({ success: true, recoveryCodes: expect.any(Array) });
  // Mail to the verified address is not a second factor.
  expect(await application.redeem(met.code)).toMatchObject({ email: userid, amr: ['swk', 'otp'] });
  await latchkey.turn(30);
  const later = answered(await sdk.authenticate(userid), 'MFA_REQUIRED');
  const sent = answered(await sdk.initiateMfa({ userid, sessionId: later.sessionId }), 'MFA_INITIATED');
  const again = answered(await sdk.verifyMfa({ userid, otp: sent.code ?? '' }), 'SUCCESS');
  expect(await application.redeem(again.code)).toMatchObject({ amr: ['swk', 'otp', 'mfa'] });
});

test('SMS as second factor requires a number, and returns recovery codes once', async ({ page }) => {
  const application = await register({ mfaPolicy: 'REQUIRED' });
  const [userid, phoneNumber] = ['grace@example.com', '+12025550143'];
  const [mail, phone] = [new Inbox(admin, userid), new Inbox(admin, phoneNumber)];
  const sdk = await open(page, application);

  answered(await sdk.authenticate(userid), 'OTP_NEEDED');
  answered(await sdk.verifyEmailOtp({ userid, otp: await mail.code() }), 'SUCCESS');
  const { methods } = answered(await sdk.verifyDevice({ userid }), 'MFA_ENROLLMENT_NEEDED');
  expect(methods).toEqual(['sms', 'totp']);
  const finalize = answered(await sdk.verifyDevice({ userid, mfaMethod: 'sms' }), 'FINALIZE_REGISTRATION_NEEDED');
  expect(finalize.required).toEqual(['phone_number']);
  const wrong = sdk.verifyDevice({ userid, mfaMethod: 'sms', phoneNumber: '0170 1234567' });
  await expect(wrong).rejects.toMatchObject({ code: 'PHONE_INVALID', category: 'user_action' });
  answered(await sdk.verifyDevice({ userid, mfaMethod: 'sms', phoneNumber }), 'DEVICE_REGISTERED');

  const { sessionId, method } = answered(await sdk.authenticate(userid), 'MFA_REQUIRED');
  expect(method).toBe('sms');
  const started = answered(await sdk.initiateMfa({ userid, sessionId }), 'MFA_INITIATED');
  expect(started).toMatchObject({ method: 'sms', sentTo: '…0143' });
  expect(started).not.toHaveProperty('code');
  const { code, recoveryCodes = [] } = answered(await sdk.verifyMfa({ userid, otp: await phone.code() }), 'SUCCESS');
  expect(await application.redeem(code)).toMatchObject({ phone_number: phoneNumber, amr: ['swk', 'sms', 'mfa'] });
  expect(new Set(recoveryCodes).size).toBe(10);
});

test('an authenticator app is enrolled once, and each code is valid once', async ({ page }) => {
  const application = await register({ mfaPolicy: 'REQUIRED', testMode: true });
  const userid = 'joan@example.com';
  const sdk = await open(page, application);

  await proveAddress(sdk, userid);
  answered(await sdk.verifyDevice({ userid, mfaMethod: 'totp' }), 'DEVICE_REGISTERED');
  const { sessionId, method } = answered(await sdk.authenticate(userid), 'MFA_REQUIRED');
  expect(method).toBe('totp');
  const { totp } = answered(await sdk.initiateMfa({ userid, sessionId }), 'MFA_INITIATED');
  expect(totp?.otpauthUri).toContain(`secret=${totp?.secret}`);
  const app = new AuthenticatorApp(totp?.secret ?? '', latchkey.now);
  const { code, recoveryCodes = [] } = answered(await sdk.verifyMfa({ userid, otp: app.next() }), 'SUCCESS');
  expect(await application.redeem(code)).toMatchObject({ amr: ['swk', 'otp', 'mfa'] });

  const again = answered(await sdk.authenticate(userid), 'MFA_REQUIRED');
  const started = answered(await sdk.initiateMfa({ userid, sessionId: again.sessionId }), 'MFA_INITIATED');
  expect(started).toMatchObject({ method: 'totp' });
  expect(started).not.toHaveProperty('totp');
  await expect(sdk.verifyMfa({ userid, otp: app.last() })).rejects.toMatchObject({ code: 'CODE_REJECTED' });
  await latchkey.turn(30);
  const met = answered(await sdk.verifyMfa({ userid, otp: app.next() }), 'SUCCESS');
  expect(await application.redeem(met.code)).toMatchObject({ amr: ['swk', 'otp', 'mfa'] });
  expect(met).not.toHaveProperty('recoveryCodes');

  await test.step('a recovery code works instead, once', async () => {
    const [otp = ''] = recoveryCodes;
    await meetFactor(sdk, userid);
    const recovered = answered(await sdk.verifyMfa({ userid, otp }), 'SUCCESS');
    expect(await application.redeem(recovered.code)).toMatchObject({ amr: ['swk', 'otp', 'mfa'] });
    await meetFactor(sdk, userid);
    await expect(sdk.verifyMfa({ userid, otp })).rejects.toMatchObject({ code: 'CODE_REJECTED' });
  });
});

test('a page of an unregistered origin gets the reason', async ({ page }) => {
  const application = await register();
  const before = await SdkInPage.open(page, site.origin);
  await expect(before.authenticate('ada@example.com')).rejects.toMatchObject({ code: 'NOT_INITIALIZED' });
  await before.init('lk_pk_nobodys', latchkey.baseUrl);
  await expect(before.authenticate('ada@example.com')).rejects.toMatchObject({ code: 'INVALID_API_KEY' });

  const { port } = new URL(site.origin);
  const refused = { code: 'ORIGIN_NOT_ALLOWED', category: 'fatal' };
  await test.step('unregistered origin', async () => {
    const stranger = await SdkInPage.open(page, `http://stranger.localhost:${port}`);
    await stranger.init(application.publishableKey, latchkey.baseUrl);
    await expect(stranger.authenticate('ada@example.com')).rejects.toMatchObject(refused);
  });
  await test.step('unregistered origin with an unknown key: the browser blocks the response', async () => {
    const stranger = await SdkInPage.open(page, `http://stranger.localhost:${port}`);
    await stranger.init('lk_pk_unknown', latchkey.baseUrl);
    await expect(stranger.authenticate('ada@example.com')).rejects.toMatchObject({ code: 'NETWORK' });
  });
  await test.step('another client’s origin', async () => {
    await Application.register(admin, latchkey, `http://localhost:${port}/callback`);
    const neighbor = await SdkInPage.open(page, `http://localhost:${port}`);
    await neighbor.init(application.publishableKey, latchkey.baseUrl);
    await expect(neighbor.authenticate('ada@example.com')).rejects.toMatchObject(refused);
  });
});

test('two tabs of the same user share one key without conflict', async ({ context, page }) => {
  const application = await register({ testMode: true });
  const userid = 'twins@example.com';
  const [left, right] = [await open(page, application), await open(await context.newPage(), application)];

  // Each tab has its own code; the later does not invalidate the earlier.
  const asked = answered(await left.authenticate(userid), 'OTP_NEEDED');
  answered(await right.authenticate(userid), 'OTP_NEEDED');
  answered(await left.verifyEmailOtp({ userid, otp: asked.code ?? '' }), 'SUCCESS');
  const registered = answered(await left.verifyDevice({ userid }), 'SUCCESS');
  const { sub } = await application.redeem(registered.code);
  const followed = answered(await right.authenticate(userid), 'SUCCESS');
  expect(await application.redeem(followed.code)).toMatchObject({ sub, amr: ['swk'] });

  const both = await Promise.all([left.authenticate(userid), right.authenticate(userid)]);
  const codes = both.map((answer) => answered(answer, 'SUCCESS').code);
  expect(new Set(codes).size).toBe(2);
  for (const one of codes) expect(await application.redeem(one)).toMatchObject({ sub, amr: ['swk'] });
});

test('a browser with a lost, unknown or expired key counts as new', async ({ browser, page }) => {
  const application = await register({ testMode: true });
  const [cleared, unknown, untrusted] = ['cleared@example.com', 'unknown@example.com', 'untrusted@example.com'];

  const lostStorage = await open(page, application);
  await proveAddress(lostStorage, cleared);
  await lostStorage.clearSiteData();
  const lost = lostStorage.verifyDevice({ userid: cleared });
  await expect(lost).rejects.toMatchObject({ code: 'DEVICE_KEY_LOST', category: 'user_action' });
  await expect(lostStorage.verifyDevice({ userid: cleared })).rejects.toMatchObject({ code: 'OUT_OF_ORDER' });

  const other = await browser.newContext();
  const sdk = await open(await other.newPage(), application);
  for (const userid of [unknown, untrusted]) {
    await proveAddress(sdk, userid);
    answered(await sdk.verifyDevice({ userid }), 'SUCCESS');
    answered(await sdk.authenticate(userid), 'SUCCESS');
  }
  const { sub } = await application.redeem(answered(await sdk.authenticate(unknown), 'SUCCESS').code);
  const gone = await fetch(`${latchkey.baseUrl}/v1/scim/${application.projectId}/Users/${sub}`, {
    method: 'DELETE',
    headers: { Authorization: `Bearer ${await admin.issueScimToken(application.projectId)}` },
  });
  expect(gone.status).toBe(204);
  // Trust is checked at use, by the current policy.
  await application.set({ deviceTrustSeconds: 0 });

  await latchkey.turn(30);
  for (const [who, userid] of [
    [lostStorage, cleared],
    [sdk, unknown],
    [sdk, untrusted],
  ] as const) {
    const asked = answered(await who.authenticate(userid), 'OTP_NEEDED');
    answered(await who.verifyEmailOtp({ userid, otp: asked.code ?? '' }), 'SUCCESS');
    const done = answered(await who.verifyDevice({ userid }), 'SUCCESS');
    expect(await application.redeem(done.code)).toMatchObject({ email: userid, amr: ['swk', 'otp'] });
  }
  await other.close();
});

test('if the client requires PKCE, the SDK creates it and returns the verifier', async ({ page }) => {
  const application = await register({ testMode: true, pkceRequired: true });
  const userid = 'pkce@example.com';
  const sdk = await open(page, application);
  await proveAddress(sdk, userid);
  const { code, codeVerifier } = answered(await sdk.verifyDevice({ userid }), 'SUCCESS');
  await expect(application.redeem(code)).rejects.toMatchObject({ code: 'INVALID_GRANT' });
  const again = answered(await sdk.authenticate(userid), 'SUCCESS');
  expect(again.codeVerifier).not.toBe(codeVerifier);
  expect(await application.redeem(again.code, { codeVerifier: again.codeVerifier ?? '' })).toMatchObject({
    email: userid,
  });
  const own = await sdk.createPkce();
  const passed = answered(await sdk.authenticate(userid, { code_challenge: own.codeChallenge }), 'SUCCESS');
  expect(passed).not.toHaveProperty('codeVerifier');
  expect(await application.redeem(passed.code, { codeVerifier: own.codeVerifier })).toMatchObject({ email: userid });
});

test('a browser removed from the account, or after forgetDevice, requires a code again', async ({ page }) => {
  const application = await register({ testMode: true });
  const userid = 'removed@example.com';
  const sdk = await open(page, application);
  await proveAddress(sdk, userid);
  const first = answered(await sdk.verifyDevice({ userid }), 'SUCCESS');
  const { sub } = await application.redeem(first.code);

  await admin.revokeDevices(sub);
  await latchkey.turn(30);
  await proveAddress(sdk, userid);
  const revoked = { code: 'DEVICE_REVOKED', category: 'user_action' };
  await expect(sdk.verifyDevice({ userid })).rejects.toMatchObject(revoked);
  await proveAddress(sdk, userid);
  answered(await sdk.verifyDevice({ userid }), 'SUCCESS');
  answered(await sdk.authenticate(userid), 'SUCCESS');

  answered(await sdk.forgetDevice(userid), 'FORGOTTEN');
  await latchkey.turn(30);
  await proveAddress(sdk, userid);
  const last = answered(await sdk.verifyDevice({ userid }), 'SUCCESS');
  expect(await application.redeem(last.code)).toMatchObject({ sub, amr: ['swk', 'otp'] });
});

test('a user changes the phone number after a step-up', async ({ page }) => {
  const application = await register({ mfaPolicy: 'OPTIONAL' });
  const [userid, phoneNumber] = ['rosalind@example.com', '+12025550188'];
  const [mail, phone] = [new Inbox(admin, userid), new Inbox(admin, phoneNumber)];
  const sdk = await open(page, application);
  const prove = async (stepUp?: 'change_phone_number') => {
    answered(await sdk.authenticate(userid, { stepUp }), 'OTP_NEEDED');
    answered(await sdk.verifyEmailOtp({ userid, otp: await mail.code() }), 'SUCCESS');
    return answered(await sdk.verifyDevice({ userid }), 'SUCCESS').code;
  };
  await prove();
  await expect(sdk.changePhoneNumber({ userid, phoneNumber })).rejects.toMatchObject({ code: 'OUT_OF_ORDER' });
  await latchkey.turn(30);
  expect(await application.redeem(await prove('change_phone_number'))).not.toHaveProperty('phone_number');
  const sent = answered(await sdk.changePhoneNumber({ userid, phoneNumber }), 'PHONE_CODE_SENT');
  expect(sent).toMatchObject({ sentTo: '…0188', resendAfter: 30 });
  const otp = await phone.code();
  const wrong = sdk.verifyPhoneNumber({ userid, otp: otherThan(otp) });
  await expect(wrong).rejects.toMatchObject({ code: 'CODE_REJECTED' });
  answered(await sdk.verifyPhoneNumber({ userid, otp }), 'PHONE_CHANGED');
  const { code } = answered(await sdk.authenticate(userid), 'SUCCESS');
  expect(await application.redeem(code)).toMatchObject({ phone_number: phoneNumber, amr: ['swk'] });
});

test('a browser that cannot store a non-extractable key fails before a code is requested', async ({ page }) => {
  await page.addInitScript(() => {
    // As in private windows of some browsers.
    IDBObjectStore.prototype.put = () => {
      throw new DOMException('The object could not be cloned.', 'DataCloneError');
    };
  });
  const application = await register();
  const userid = 'private@example.com';
  const sdk = await open(page, application);
  const refused = { code: 'STORAGE_UNAVAILABLE', category: 'user_action' };
  await expect(sdk.authenticate(userid)).rejects.toMatchObject(refused);
  expect(await admin.mailbox(userid)).toEqual([]);
});

test('a device whose clock is a day wrong signs in', async ({ page }) => {
  await page.clock.install({ time: Date.now() + 86_400_000 });
  const application = await register({ testMode: true });
  const userid = 'late@example.com';
  const sdk = await open(page, application);
  await proveAddress(sdk, userid);
  answered(await sdk.verifyDevice({ userid }), 'SUCCESS');
  answered(await sdk.authenticate(userid), 'SUCCESS');
});

test('init does not hang while another tab blocks the storage', async ({ context, page }) => {
  const application = await register();
  const sdk = await SdkInPage.open(page, site.origin);
  await sdk.init(application.publishableKey, latchkey.baseUrl);
  const holder = await context.newPage();
  await holder.goto(`${site.origin}/`);
  // An open connection keeps a deletion waiting, and each later open waits for the deletion.
  await holder.evaluate(
    () =>
      new Promise<void>((resolve, reject) => {
        const request = indexedDB.open('latchkey', 1);
        request.onerror = () => reject(request.error ?? new Error('not opened'));
        request.onsuccess = () => {
          const deletion = indexedDB.deleteDatabase('latchkey');
          deletion.onblocked = () => resolve();
        };
      }),
  );
  await expect(sdk.init(application.publishableKey, latchkey.baseUrl, { timeoutMs: 500 })).rejects.toMatchObject({
    code: 'TIMEOUT',
    category: 'retryable',
  });
  await holder.close();
  answered(await sdk.authenticate('ada@'), 'INVALID_EMAIL');
});
