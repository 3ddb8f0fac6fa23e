import { beforeEach, expect } from 'vitest';
import { SoftAuthenticator } from './authenticator.ts';
import { HostedBrowser } from './hosted-browser.ts';
import type { SigninPage, StepAnswer } from './signin-browser.ts';
import { expectStatus, newAddress, refusal, type SigninWorld } from './signin-world.ts';

/** A user with an authenticator, in the world's current project. */
export class PasskeyUser {
  userid = newAddress();
  authenticator = new SoftAuthenticator();

  constructor(private readonly world: SigninWorld) {}

  /** A new user for each test. */
  static ofTests(world: SigninWorld): PasskeyUser {
    const user = new PasskeyUser(world);
    beforeEach(() => {
      user.userid = newAddress();
      user.authenticator = new SoftAuthenticator();
    });
    return user;
  }

  /** A new browser with the user's authenticator. */
  async open(over: Record<string, string | undefined> = {}): Promise<HostedBrowser> {
    const hosted = new HostedBrowser(this.world, this.authenticator);
    await hosted.open(over);
    return hosted;
  }

  /** Signs up, and adds a passkey that verifies the user; the browser has a session. */
  async enrolled(): Promise<HostedBrowser> {
    const hosted = await this.open();
    const done = expectStatus(await hosted.register(this.userid), 'SUCCESS');
    expectStatus(await hosted.addPasskey(), 'PASSKEY_REGISTERED');
    await hosted.claims(done);
    return hosted;
  }

  /** Signs up while a passkey is required; returns the recovery codes. */
  async enrolledUnderRequired(): Promise<string[]> {
    await this.world.set({ passkeyPolicy: 'required' });
    const hosted = await this.open();
    expectStatus(await this.byMail(hosted.page), 'PASSKEY_ENROLLMENT_NEEDED');
    return expectStatus(await hosted.addPasskey(), 'SUCCESS')['recovery_codes'];
  }

  /** Signs in on `page` with only a mail code; returns the response to the registration of its device. */
  async byMail(page: SigninPage): Promise<StepAnswer> {
    await this.world.verifyAddress(page, this.userid);
    return page.step('verify-device', { userid: this.userid }, 'registration');
  }

  /** Expects that the browser of `page` needs the passkey to continue. */
  async isStopped(page: SigninPage): Promise<void> {
    const { userid } = this;
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

  /** Rows of a query with the project's id as parameter. */
  rows(query: string): Promise<Record<string, unknown>[]> {
    return this.world.app.services.db.reader().execute(query, [this.world.project.id]);
  }

  /** All passkeys of the project. */
  passkeys(): Promise<Record<string, unknown>[]> {
    return this.rows("select id, user_verified from credentials where project_id = ? and kind = 'passkey'");
  }
}
