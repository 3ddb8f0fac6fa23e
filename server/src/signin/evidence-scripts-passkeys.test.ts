import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Tab } from '../../test/walk/browsers.ts';
import { Processes } from '../../test/walk/processes.ts';
import { errorOf, Script } from '../../test/walk/script.ts';
import type { Reply } from '../../test/walk/wire.ts';

let processes: Processes;
beforeAll(async () => {
  processes = await Processes.start();
});
afterAll(() => processes.close());

const refused = /^[A-Z_]+$/;

describe('a passkey', () => {
  it('is not revoked by a logout that forgets the browser', async () => {
    const script = await Script.begin(processes);
    await script.withPasskey(0, script.ann, 0);
    const tab = await script.open(0, 'hosted', { ask: 'login' });
    expect((await script.passkey(tab, 'sign_in', 0)).json['status'], script.text).toBe('SUCCESS');
    await script.resume(tab);
    await script.forget(0);
    expect(script.world.model.passkeysOf(script.user(script.ann))).toHaveLength(1);
  });

  it('is required before the account page adds another one if the only other factor is the mailbox', async () => {
    const script = await Script.begin(processes);
    const { ann } = script;
    await enrolledByMail(script);
    const other = await script.open(1, 'hosted');
    await script.passkey(other, 'sign_in', 0);
    await script.resume(other);
    await script.account(1, 'add-passkey');
    const tab = script.walker.signin.tabs[0] as Tab;
    await script.prove(tab, ann);
    await script.step(tab, 'verify-device', { userid: ann });
    const asked = await script.step(tab, 'authenticate', { userid: ann });
    expect(asked.json['method'], script.text).toBe('passkey');
    expect((await script.passkey(tab, 'sign_in', 0)).json['passkey_offer']).toBe(true);
    expect((await script.passkey(tab, 'registration', 0)).json['status']).toBe('PASSKEY_REGISTERED');
  });

  it('is required before the account page adds another one; the mailbox alone is not enough', async () => {
    const script = await Script.begin(processes);
    const { ann } = script;
    await script.withPasskey(0, ann, 0);
    const other = await script.open(1, 'hosted');
    await script.passkey(other, 'sign_in', 0);
    await script.resume(other);
    await script.account(1, 'add-passkey');
    const tab = script.walker.signin.tabs[0] as Tab;
    script.turn(31);
    await script.prove(tab, ann);
    await script.step(tab, 'verify-device', { userid: ann });
    const asked = await script.step(tab, 'authenticate', { userid: ann });
    expect(asked.json['method'], script.text).toBe('passkey');
  });

  it.each(['hosted', 'sdk'] as const)(
    'is required under REQUIRED; a second mail code is not enough (%s)',
    async (entry) => {
      const script = await Script.begin(processes, { mfaPolicy: 'required', emailFactor: true });
      const { ann } = script;
      await enrolledByMail(script);
      const tab = await script.open(1, entry);
      await script.prove(tab, ann);
      await script.step(tab, 'verify-device', { userid: ann });
      const asked = await script.step(tab, 'authenticate', { userid: ann });
      expect(asked.json['method'], script.text).toBe('passkey');
    },
  );

  it('makes the device of its sign-in trusted, even if another sign-in registered it at the same instant', async () => {
    const script = await Script.begin(processes, { mfaPolicy: 'required', emailFactor: true });
    const { ann } = script;
    await enrolledByMail(script);
    const tabs = [await script.open(1, 'hosted'), await script.open(1, 'hosted')] as const;
    for (const tab of tabs) {
      await script.prove(tab, ann);
      script.turn(31);
    }
    for (const tab of tabs) {
      const registered = await script.step(tab, 'verify-device', { userid: ann });
      expect(registered.json['status'], script.text).toBe('DEVICE_REGISTERED');
    }
    expect((await script.passkey(tabs[1], 'sign_in', 0)).json['status'], script.text).toBe('SUCCESS');
    script.browser(1).jar.cookies.clear();
    const asked = await script.step(await script.open(1, 'hosted'), 'authenticate', { userid: ann });
    expect(asked.json['status'], script.text).toBe('MFA_REQUIRED');
  });

  it('makes every device require the factor again if it is the first beside the mailbox', async () => {
    const script = await Script.begin(processes, { rememberMfaSeconds: 86_400 });
    const { ann } = script;
    await script.settings({ offeredFactors: ['email', 'totp'] });
    const { tab } = await beganMailFactor(script, 0);
    await script.step(tab, 'verify-mfa', { userid: ann, otp: await script.mail(ann), remember_me: true });
    script.browser(0).jar.cookies.clear();
    const again = await script.open(0, 'hosted');
    expect((await script.step(again, 'authenticate', { userid: ann })).json['status'], script.text).toBe('SUCCESS');
    script.turn(31);
    const other = await script.open(1, 'hosted');
    await script.register(other, ann);
    const { tab: last } = await script.proceed(other, ann);
    await script.step(last, 'verify-mfa', { userid: ann, otp: await script.mail(ann) });
    expect((await script.passkey(last, 'registration', 0)).json['status'], script.text).toBe('PASSKEY_REGISTERED');
    script.browser(0).jar.cookies.clear();
    const asked = await script.step(await script.open(0, 'hosted'), 'authenticate', { userid: ann });
    expect(asked.json['status'], script.text).toBe('MFA_REQUIRED');
  });

  it('that the policy allows again ends a sign-in with two mail codes', async () => {
    const script = await Script.begin(processes, { mfaPolicy: 'required', emailFactor: true });
    const { ann } = script;
    await enrolledByMail(script);
    await script.settings({ passkeyPolicy: 'off' });
    const tab = await script.open(1, 'hosted');
    await script.prove(tab, ann);
    await script.step(tab, 'verify-device', { userid: ann });
    const { session_id } = (await script.step(tab, 'authenticate', { userid: ann })).json;
    await script.step(tab, 'initiate-mfa', { userid: ann, session_id });
    const otp = await script.mail(ann);
    await script.settings({ passkeyPolicy: 'allowed' });
    expect(errorOf(await script.step(tab, 'verify-mfa', { userid: ann, otp })), script.text).toMatch(refused);
  });
});

/** Ann has an email factor and a passkey, and a session in browser 0. */
async function enrolledByMail(script: Script): Promise<void> {
  const { ann } = script;
  await script.settings({ offeredFactors: ['email', 'totp'] });
  const { tab } = await beganMailFactor(script, 0);
  await script.step(tab, 'verify-mfa', { userid: ann, otp: await script.mail(ann) });
  await script.passkey(tab, 'registration', 0);
  await script.resume(tab);
  expect(script.world.model.passkeysOf(script.user(ann)), script.text).toHaveLength(1);
  script.turn(31);
}

/** Ann registers a browser, and begins an email factor. */
async function beganMailFactor(script: Script, browser: number): Promise<{ tab: Tab; reply: Reply }> {
  const { ann } = script;
  const first = await script.open(browser, 'hosted');
  await script.register(first, ann, { mfa_method: 'email' });
  return script.proceed(first, ann);
}
