import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Tab } from '../../test/walk/browsers.ts';
import { Processes } from '../../test/walk/processes.ts';
import { errorOf, Script } from '../../test/walk/script.ts';

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
  const first = await script.open(0, 'hosted');
  await script.register(first, ann, { mfa_method: 'email' });
  const { tab } = await script.goOn(first, ann);
  await script.step(tab, 'verify-mfa', { userid: ann, otp: await script.mail(ann) });
  await script.passkey(tab, 'registration', 0);
  await script.resume(tab);
  expect(script.world.model.passkeysOf(script.user(ann)), script.text).toHaveLength(1);
  script.turn(31);
}
