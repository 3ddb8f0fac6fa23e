import type { SignInAction, SignInState } from '@latchkey/browser';
import { expect, type Page, test } from '@playwright/test';
import { SdkInPage, sdkPage } from '../clients/sdk-page.ts';
import { type Served, serve } from '../clients/serve.ts';
import { AdminApi } from '../support/admin-api.ts';
import { Application, Inbox, type ProjectSettings } from '../support/application.ts';
import { AuthenticatorApp, otherThan } from '../support/authenticator-app.ts';
import { type Latchkey, sharedAdjustableLatchkey } from '../support/latchkey.ts';

/** The state machine of the browser SDK, on another origin, against a running service. */

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

type Shown<Step extends SignInState['step']> = Extract<SignInState, { step: Step }>;

/** A started sign-in in a page. */
class Started {
  readonly page: Page;

  private constructor(page: Page) {
    this.page = page;
  }

  static async in(page: Page, application: Application): Promise<Started> {
    const sdk = await SdkInPage.open(page, site.origin);
    await sdk.init(application.publishableKey, latchkey.baseUrl);
    await page.evaluate('window.signIn = window.sdk.start()');
    return new Started(page);
  }

  state(): Promise<SignInState> {
    return this.page.evaluate('({ ...window.signIn.state, error: window.signIn.state.error?.code })');
  }

  /** Sends an action, and waits for `step` without a request in flight. */
  async send<Step extends SignInState['step']>(action: SignInAction, step: Step, error?: string): Promise<Shown<Step>> {
    await this.page.evaluate(`window.signIn.send(${JSON.stringify(action)})`);
    await expect
      .poll(async () => {
        const { busy, step: at, error: code } = await this.state();
        return [busy, at, code];
      })
      .toEqual([false, step, error]);
    return (await this.state()) as Shown<Step>;
  }
}

const register = (settings: ProjectSettings) =>
  Application.register(admin, latchkey, `${site.origin}/callback`, { pkceRequired: true, ...settings });

for (const mfaPolicy of ['OFF', 'OPTIONAL'] as const) {
  test(`a new user signs in, then again with the trusted device, if a second factor is ${mfaPolicy}`, async ({
    page,
  }) => {
    const application = await register({ mfaPolicy });
    const userid = `start-${mfaPolicy.toLowerCase()}@example.com`;
    const inbox = new Inbox(admin, userid);
    const signIn = await Started.in(page, application);

    await signIn.send({ type: 'submit-address', userid: 'ada@' }, 'address', 'INVALID_EMAIL');
    const asked = await signIn.send({ type: 'submit-address', userid }, 'code');
    expect(asked).toMatchObject({ method: 'address', sentTo: 's…@example.com', codeFormat: 'digits' });
    await expect.poll(async () => ((await signIn.state()) as Shown<'code'>).resendIn).toBeLessThan(30);
    const otp = await inbox.code();
    await signIn.send({ type: 'submit-code', otp: '12345' }, 'code', 'CODE_INCOMPLETE');
    await signIn.send({ type: 'submit-code', otp: otherThan(otp) }, 'code', 'CODE_REJECTED');
    const { code, codeVerifier = '' } = await signIn.send({ type: 'submit-code', otp }, 'success');
    expect(await application.redeem(code, { codeVerifier })).toMatchObject({ email: userid });

    const later = await Started.in(page, application);
    await expect.poll(async () => (await later.state()).userid).toBe(userid);
    const again = await later.send({ type: 'submit-address', userid }, 'success');
    expect(await application.redeem(again.code, { codeVerifier: again.codeVerifier ?? '' })).toMatchObject({
      amr: ['swk'],
    });
  });
}

test('a new user enrolls a second factor, and uses it and a recovery code, if one is REQUIRED', async ({ page }) => {
  const application = await register({ mfaPolicy: 'REQUIRED' });
  const userid = 'start-required@example.com';
  const signIn = await Started.in(page, application);
  await signIn.send({ type: 'submit-address', userid }, 'code');
  const otp = await new Inbox(admin, userid).code();
  const { methods } = await signIn.send({ type: 'submit-code', otp }, 'method');
  expect(methods).toEqual(['sms', 'totp']);

  await test.step('another method can be chosen', async () => {
    await signIn.send({ type: 'choose-method', method: 'sms' }, 'phone');
    await signIn.send({ type: 'submit-phone', phoneNumber: '0170 1234567' }, 'phone', 'PHONE_INVALID');
    await signIn.send({ type: 'back' }, 'method');
  });
  const enrolling = await signIn.send({ type: 'choose-method', method: 'totp' }, 'code');
  expect(enrolling).toMatchObject({ method: 'totp', canChooseMethod: true, canUseRecoveryCode: false });
  const app = new AuthenticatorApp(enrolling.totp?.secret ?? '', latchkey.now);
  const first = await signIn.send({ type: 'submit-code', otp: app.next() }, 'success');
  expect(await application.redeem(first.code, { codeVerifier: first.codeVerifier ?? '' })).toMatchObject({
    amr: ['swk', 'otp', 'mfa'],
  });
  const [recoveryCode = ''] = first.recoveryCodes ?? [];
  expect(first.recoveryCodes).toHaveLength(10);

  const later = await Started.in(page, application);
  const factor = await later.send({ type: 'submit-address', userid }, 'code');
  expect(factor).toMatchObject({ method: 'totp', totp: undefined, canUseRecoveryCode: true });
  await later.send({ type: 'use-recovery-code' }, 'recovery-code');
  await later.send({ type: 'back' }, 'code');
  await later.send({ type: 'use-recovery-code' }, 'recovery-code');
  const second = await later.send({ type: 'submit-code', otp: recoveryCode }, 'success');
  expect(await application.redeem(second.code, { codeVerifier: second.codeVerifier ?? '' })).toMatchObject({
    email: userid,
  });

  await test.step('the user is remembered until the device is forgotten', async () => {
    expect(await page.evaluate('window.sdk.lastUser()')).toBe(userid);
    expect(await page.evaluate('window.sdk.signOut({ forgetDevice: true })')).toMatchObject({ status: 'SIGNED_OUT' });
    expect(await page.evaluate('window.sdk.lastUser()')).toBeUndefined();
  });
});

test('a page that is not allowed gets the reason', async ({ page }) => {
  const application = await register({ mfaPolicy: 'OFF' });
  const { port } = new URL(site.origin);
  const sdk = await SdkInPage.open(page, `http://stranger.localhost:${port}`);
  await sdk.init(application.publishableKey, latchkey.baseUrl);
  await page.evaluate('window.signIn = window.sdk.start()');
  await page.evaluate("window.signIn.send({ type: 'submit-address', userid: 'ada@example.com' })");
  await expect
    .poll(() => page.evaluate('[window.signIn.state.step, window.signIn.state.error?.code]'))
    .toEqual(['failed', 'ORIGIN_NOT_ALLOWED']);
});
