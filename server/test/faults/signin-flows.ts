import { randomInt } from 'node:crypto';
import { SoftAuthenticator } from '../authenticator.ts';
import { HostedBrowser } from '../hosted-browser.ts';
import type { StepAnswer } from '../signin-browser.ts';
import { expectStatus, newAddress, type SigninWorld } from '../signin-world.ts';
import type { Answered, Flow } from './fault-lab.ts';
import { answerOf } from './openid-flows.ts';

const stepOf = ({ httpStatus: status, headers, text: body }: StepAnswer, ...statuses: string[]): Answered => ({
  status,
  headers,
  body,
  isSuccess: statuses.includes((JSON.parse(body) as { status?: string }).status ?? ''),
});

export function signinFlows(world: SigninWorld): Flow[] {
  type Settings = Parameters<SigninWorld['begin']>[0];
  const begin = async (settings: Settings = {}) => {
    await world.begin(settings);
    return { userid: newAddress(), page: await world.page() };
  };
  const hostedUser = async () => {
    await world.begin();
    const hosted = new HostedBrowser(world, new SoftAuthenticator());
    await hosted.open();
    const userid = newAddress();
    return { hosted, userid };
  };

  return [
    {
      name: 'signin: challenge',
      again: 'succeeds',
      prepare: async () => {
        const { page } = await begin();
        return async () => {
          const answer = await page.challenge();
          return { ...stepOf(answer, 'x'), isSuccess: answer['txn'] !== undefined };
        };
      },
    },
    {
      name: 'signin: authenticate, unknown user',
      again: 'anything',
      prepare: async () => {
        const { page, userid } = await begin();
        await page.challenge();
        return async () => stepOf(await page.step('authenticate', { userid }), 'OTP_NEEDED');
      },
    },
    {
      name: 'signin: authenticate, known user, new device',
      again: 'anything',
      prepare: async () => {
        const { page, userid } = await begin();
        await world.register(page, userid);
        world.app.clock.turn(60);
        const other = await world.page();
        await other.challenge();
        return async () => stepOf(await other.step('authenticate', { userid }), 'OTP_NEEDED');
      },
    },
    {
      name: 'signin: authenticate, trusted device',
      again: 'anything',
      prepare: async () => {
        const { page, userid } = await begin();
        await world.register(page, userid);
        world.app.clock.turn(60);
        await page.challenge();
        return async () => stepOf(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
      },
    },
    {
      name: 'signin: authenticate, trusted device, factor required',
      again: 'anything',
      prepare: async () => {
        const { page, userid } = await begin({ mfaPolicy: 'optional' });
        await world.enrolTotp(page, userid);
        await page.challenge();
        return async () => stepOf(await page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
      },
    },
    {
      name: 'signin: verify-email-otp, first registration',
      prepare: async () => {
        const { page, userid } = await begin();
        await page.challenge();
        expectStatus(await page.step('authenticate', { userid }), 'OTP_NEEDED');
        const otp = await world.codeFor(userid);
        return async () => stepOf(await page.step('verify-email-otp', { userid, otp }), 'SUCCESS');
      },
    },
    {
      name: 'signin: verify-email-otp, wrong code',
      again: 'anything',
      prepare: async () => {
        const { page, userid } = await begin();
        await page.challenge();
        expectStatus(await page.step('authenticate', { userid }), 'OTP_NEEDED');
        const otp = await world.codeFor(userid);
        const wrong = otp === '000000' ? '000001' : '000000';
        return async () => {
          const answer = await page.step('verify-email-otp', { userid, otp: wrong });
          return { ...stepOf(answer), isSuccess: answer.httpStatus === 400 };
        };
      },
    },
    {
      name: 'signin: verify-device, first registration',
      prepare: async () => {
        const { page, userid } = await begin();
        await world.verifyAddress(page, userid);
        return async () => stepOf(await page.step('verify-device', { userid }, 'registration'), 'SUCCESS');
      },
    },
    ...(['email', 'totp', 'sms'] as const).flatMap((method): Flow[] => {
      const phone = method === 'sms' ? { phone_number: `+1202555${randomInt(1000, 10_000)}` } : {};
      const fields = { mfa_method: method, ...phone };
      const settings: Settings = { mfaPolicy: 'optional', emailFactor: true };
      const code = async (userid: string, initiated: StepAnswer) =>
        method === 'totp'
          ? world.totp(initiated['totp'].secret)
          : world.codeFor(method === 'sms' ? (phone.phone_number ?? '') : userid);
      return [
        {
          name: `signin: verify-device with ${method}`,
          prepare: async () => {
            const { page, userid } = await begin(settings);
            await world.verifyAddress(page, userid);
            return async () =>
              stepOf(await page.step('verify-device', { userid, ...fields }, 'registration'), 'DEVICE_REGISTERED');
          },
        },
        {
          name: `signin: initiate-mfa with ${method}`,
          again: 'anything',
          prepare: async () => {
            const { page, userid } = await begin(settings);
            await world.verifyAddress(page, userid);
            expectStatus(await page.step('verify-device', { userid, ...fields }, 'registration'), 'DEVICE_REGISTERED');
            const owed = expectStatus(await page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
            return async () =>
              stepOf(
                await page.step('initiate-mfa', { userid, session_id: owed['session_id'] }, 'use'),
                'MFA_INITIATED',
              );
          },
        },
        {
          name: `signin: verify-mfa with ${method}, enrolment`,
          prepare: async () => {
            const { page, userid } = await begin(settings);
            const initiated = expectStatus(await world.enrol(page, userid, fields), 'MFA_INITIATED');
            const otp = await code(userid, initiated);
            return async () => stepOf(await page.step('verify-mfa', { userid, otp }, 'use'), 'SUCCESS');
          },
        },
      ];
    }),
    {
      name: 'signin: verify-mfa with totp',
      prepare: async () => {
        const { page, userid } = await begin({ mfaPolicy: 'optional' });
        const { secret } = await world.enrolTotp(page, userid);
        expectStatus(await world.meetFactor(page, userid), 'MFA_INITIATED');
        const otp = world.totp(secret);
        return async () => stepOf(await page.step('verify-mfa', { userid, otp, remember_me: true }, 'use'), 'SUCCESS');
      },
    },
    {
      name: 'signin: hosted: first registration, then resume',
      again: 'anything',
      prepare: async () => {
        const { hosted, userid } = await hostedUser();
        const done = expectStatus(await hosted.register(userid), 'SUCCESS');
        return async () => {
          const response = await hosted.browser.get(done['redirect_to']);
          const location = response.headers.get('location') ?? '';
          return { ...(await answerOf(response)), isSuccess: location.includes('code=') };
        };
      },
    },
    {
      name: 'signin: hosted: verify-device',
      prepare: async () => {
        const { hosted, userid } = await hostedUser();
        await world.verifyAddress(hosted.page, userid);
        return async () => stepOf(await hosted.page.step('verify-device', { userid }, 'registration'), 'SUCCESS');
      },
    },
    {
      name: 'signin: passkey: options',
      again: 'succeeds',
      prepare: async () => {
        const { hosted, userid } = await hostedUser();
        expectStatus(await hosted.register(userid), 'SUCCESS');
        return async () =>
          stepOf(await hosted.page.step('passkey-options', { purpose: 'registration' }), 'PASSKEY_OPTIONS');
      },
    },
    {
      name: 'signin: passkey: registration',
      prepare: async () => {
        const { hosted, userid } = await hostedUser();
        expectStatus(await hosted.register(userid), 'SUCCESS');
        const { options } = expectStatus(
          await hosted.page.step('passkey-options', { purpose: 'registration' }),
          'PASSKEY_OPTIONS',
        );
        const credential = hosted.authenticator.create(options, { origin: world.app.url });
        return async () => stepOf(await hosted.page.step('register-passkey', { credential }), 'PASSKEY_REGISTERED');
      },
    },
    {
      name: 'signin: passkey: sign-in on the hosted page',
      prepare: async () => {
        const { hosted, userid } = await hostedUser();
        expectStatus(await hosted.register(userid), 'SUCCESS');
        expectStatus(await hosted.addPasskey(), 'PASSKEY_REGISTERED');
        const again = new HostedBrowser(world, hosted.authenticator);
        await again.open();
        await again.page.challenge({});
        const { options } = expectStatus(await again.page.step('passkey-options', {}), 'PASSKEY_OPTIONS');
        const credential = again.authenticator.get(options, { origin: world.app.url });
        return async () => stepOf(await again.page.step('verify-passkey', { credential }), 'SUCCESS');
      },
    },
  ];
}
