import { type Texts, timeIn } from '../wording.ts';

const time = (at: string) => timeIn('en', at);

export const en: Texts = {
  'sign-in-code': ({ app, code, minutes }) => ({
    subject: `${code} is your sign-in code for ${app}`,
    before: [`Your code to sign in to ${app}:`],
    after: [
      `It is good for ${minutes} minutes, on the page where you asked for it.`,
      'If you did not ask for it, ignore this message: nobody can sign in without the code. Never tell it to anyone.',
    ],
  }),
  'factor-code': ({ app, code, minutes }) => ({
    subject: `${code} is your second-step code for ${app}`,
    before: [`Your code for the second step of signing in to ${app}:`],
    after: [`It is good for ${minutes} minutes.`, 'If you are not signing in right now, somebody else is trying to.'],
  }),
  'phone-code': ({ app, code, minutes }) => ({
    subject: `${code} is your code to confirm this phone number for ${app}`,
    before: [`Your code to confirm this phone number for ${app}:`],
    after: [`It is good for ${minutes} minutes.`, 'If you did not ask for it, ignore this message.'],
  }),
  'phone-changed': ({ app, ending, at }) => ({
    subject: `Phone number changed for ${app}`,
    before: [
      `The phone number of your account for ${app} was changed. The new one ends in ${ending}.`,
      `Time: ${time(at)}`,
      `If this was not you, tell the people who run ${app} at once.`,
    ],
    after: [],
  }),
  'new-device': ({ app, device, at }) => ({
    subject: `New device for ${app}`,
    before: [
      `A new device can now sign in to ${app} as you.`,
      `Device: ${device}`,
      `Time: ${time(at)}`,
      `If this was not you, tell the people who run ${app} at once, and check who can read your e-mail.`,
    ],
    after: [],
  }),
  'factor-changed': ({ app, change, method, at }) => ({
    subject: `Second step changed for ${app}`,
    before: [
      {
        added: `A second step was added to your sign-in for ${app}.`,
        replaced: `The second step of your sign-in for ${app} was replaced.`,
        removed: `A second step was removed from your sign-in for ${app}.`,
      }[change],
      `Second step: ${{ email: 'code by e-mail', sms: 'code by text message', totp: 'authenticator app' }[method]}`,
      `Time: ${time(at)}`,
      `If this was not you, tell the people who run ${app} at once.`,
    ],
    after: [],
  }),
  'recovery-code-used': ({ app, left, at }) => ({
    subject: `A recovery code was used for ${app}`,
    before: [
      `One of your recovery codes was used to sign in to ${app}.`,
      `Time: ${time(at)}`,
      `Recovery codes left: ${left}`,
      `If this was not you, tell the people who run ${app} at once.`,
    ],
    after: [],
  }),
  'recovery-codes-renewed': ({ app, at }) => ({
    subject: `New recovery codes for ${app}`,
    before: [
      `Ten new recovery codes were made for your sign-in for ${app}. Those before no longer work.`,
      `Time: ${time(at)}`,
      `If this was not you, tell the people who run ${app} at once.`,
    ],
    after: [],
  }),
  'test-message': ({ app, at }) => ({
    subject: `Test message from ${app}`,
    before: [`This is a test message from ${app}. Messages arrive.`, `You need not do anything. Time: ${time(at)}`],
    after: [],
  }),
};
