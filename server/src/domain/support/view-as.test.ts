/** Compares the preview of a sign-in with the sign-in itself, for each policy and user. */
import { describe, expect, it } from 'vitest';
import type { HostedBrowser } from '../../../test/hosted-browser.ts';
import { PasskeyUser } from '../../../test/passkey-user.ts';
import { rows } from '../../../test/rows.ts';
import type { StepAnswer } from '../../../test/signin-browser.ts';
import { expectStatus, SigninWorld } from '../../../test/signin-world.ts';
import { keyIn } from '../projects/tenant.ts';
import type { ExpectedSignIn, ViewAs } from './view-as.ts';

const world = SigninWorld.ofTests();
const person = PasskeyUser.ofTests(world);

const policies: Record<string, Parameters<SigninWorld['set']>[0]> = {
  'no policy': {},
  'an optional second factor': { mfaPolicy: 'optional' },
  'a required second factor': { mfaPolicy: 'required' },
  'a required second factor, email allowed': { mfaPolicy: 'required', emailFactor: true },
  'required passkeys': { passkeyPolicy: 'required' },
};

let secret = '';
const enrolTotp = async (hosted: HostedBrowser) => {
  ({ secret } = await world.enrolTotp(hosted.page, person.userid));
};
const people: Record<string, () => Promise<HostedBrowser>> = {
  'without a factor': async () => {
    const hosted = await person.open();
    expectStatus(await hosted.register(person.userid), 'SUCCESS');
    return hosted;
  },
  'with an authenticator app': async () => {
    await world.set({ mfaPolicy: 'optional' });
    const hosted = await person.open();
    await enrolTotp(hosted);
    return hosted;
  },
  'with a passkey': () => person.enrolled(),
};

async function forecast(): Promise<ViewAs> {
  const { db, forecast: service } = world.app.services;
  const user = await world.findUser(person.userid);
  const key = keyIn(world.project.id, world.client.id);
  return service.of(db.reader(), key, user?.id ?? '', ['openid']);
}

const named = ({ steps }: ExpectedSignIn): string[] =>
  steps.map(({ step }) => (step.kind === 'factor' ? `factor ${step.method}` : step.kind));

/** The steps that a browser without a session goes through, up to SUCCESS. */
async function met(hosted: HostedBrowser): Promise<string[]> {
  const { userid } = person;
  hosted.browser.cookies.clear();
  await hosted.open();
  const { page } = hosted;
  const seen: string[] = [];
  await page.challenge();
  let answer: StepAnswer = await page.step('authenticate', { userid }, 'use');
  if (answer.status === 'OTP_NEEDED') {
    seen.push('mail-code');
    expectStatus(await page.step('verify-email-otp', { userid, otp: await world.codeFor(userid) }), 'SUCCESS');
    answer = await page.step('verify-device', { userid }, 'registration');
    if (answer.status === 'MFA_ENROLLMENT_NEEDED') {
      seen.push('enrolment');
      answer = await page.step('verify-device', { userid, mfa_method: 'totp' }, 'registration');
    }
  } else seen.push('device-key');
  if (answer.status === 'DEVICE_REGISTERED') answer = await page.step('authenticate', { userid }, 'use');
  if (answer.status === 'MFA_REQUIRED' && answer['method'] === 'passkey') {
    seen.push('passkey');
    answer = await hosted.usePasskey();
  } else if (answer.status === 'MFA_REQUIRED') {
    if (!seen.includes('enrolment')) seen.push(`factor ${answer['method']}`);
    const begun = await page.step('initiate-mfa', { userid, session_id: answer['session_id'] }, 'use');
    secret = begun['totp']?.secret ?? secret;
    answer = await page.step('verify-mfa', { userid, otp: world.totp(secret) }, 'use');
    world.app.clock.turn(31);
  }
  if (answer.status === 'PASSKEY_ENROLLMENT_NEEDED') {
    seen.push('creation');
    answer = await hosted.addPasskey();
  }
  expectStatus(answer, 'SUCCESS');
  return seen;
}

describe.each(Object.keys(policies))('under %s', (policy) => {
  it.each(Object.keys(people))('predicts the sign-in of a user %s, in a trusted and in a new browser', async (who) => {
    await world.set({ mfaPolicy: 'off', passkeyPolicy: 'allowed' });
    const trusted = await people[who]?.();
    if (!trusted) throw new Error('no such person');
    await world.set({ mfaPolicy: 'off', ...policies[policy] });
    const [, inTrusted] = (await forecast()).signIns;
    expect(inTrusted && named(inTrusted)).toEqual(await met(trusted));
    const [inNew] = (await forecast()).signIns;
    expect(inNew && named(inNew)).toEqual(await met(await person.open()));
  });
});

describe('a preview', () => {
  it('states why a sign-in would fail, and writes nothing', async () => {
    await people['without a factor']?.();
    const all = () =>
      rows(world.app.services.db, 'select count(*)::int as events from audit_log where project_id = ?', [
        world.project.id,
      ]);
    await world.set({ mfaPolicy: 'required', offeredFactors: ['email'] });
    const before = await all();
    expect((await forecast()).signIns[0]).toMatchObject({ denied: 'no-factor' });
    expect(await all()).toEqual(before);
    const user = await world.findUser(person.userid);
    await world.app.services.accountAccess.deactivate(world.project.id, user?.id ?? '', { kind: 'system' });
    expect((await forecast()).signIns).toMatchObject([{ steps: [], denied: 'inactive' }]);
  });

  it('names the policy of each step', async () => {
    await people['with a passkey']?.();
    await world.set({ passkeyPolicy: 'required' });
    const { signIns, takesPasskey } = await forecast();
    expect(takesPasskey).toBe(true);
    expect(signIns[0]?.steps.map(({ reason }) => reason)).toEqual(['new-browser', 'passkey-policy']);
  });
});
