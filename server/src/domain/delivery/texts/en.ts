import { type Texts, timeIn } from '../wording.ts';

const time = (at: string) => timeIn('en', at);

export const en: Texts = {
  'sign-in-code': ({ app, code, minutes }) => ({
    subject: `${code} is your sign-in code for ${app}`,
    before: [`Your code to sign in to ${app}:`],
    after: [
      `It expires in ${minutes} minutes. Enter it on the page where you requested it.`,
      'If you did not request it, ignore this message. Never share the code.',
    ],
  }),
  'factor-code': ({ app, code, minutes }) => ({
    subject: `${code} is your second-step code for ${app}`,
    before: [`Your code for the second step of signing in to ${app}:`],
    after: [
      `It expires in ${minutes} minutes.`,
      'If you are not signing in right now, someone else is trying to sign in as you. Never share the code.',
    ],
  }),
  'phone-code': ({ app, code, minutes }) => ({
    subject: `${code} is your code to confirm this phone number for ${app}`,
    before: [`Your code to confirm this phone number for ${app}:`],
    after: [`It expires in ${minutes} minutes.`, 'If you did not request it, ignore this message.'],
  }),
  'email-code': ({ app, code, minutes }) => ({
    subject: `${code} is your code to confirm this email address for ${app}`,
    before: [`Your code to use this email address for your account for ${app}:`],
    after: [
      `It expires in ${minutes} minutes. Enter it on the page where you requested it.`,
      'If you did not request it, ignore this message. Never share the code.',
    ],
  }),
  'phone-changed': ({ app, ending, at }) => ({
    subject: `Phone number changed for ${app}`,
    before: [
      `The phone number of your account for ${app} was changed. The new one ends in ${ending}.`,
      `Time: ${time(at)}`,
      `If this was not you, contact the team behind ${app} immediately.`,
    ],
    after: [],
  }),
  'email-changed': ({ app, email, at }) => ({
    subject: `Email address changed for ${app}`,
    before: [
      `The email address of your account for ${app} was changed to ${email}. Codes go there now.`,
      `Time: ${time(at)}`,
      `If this was not you, contact the team behind ${app} immediately.`,
    ],
    after: [],
  }),
  'login-changed': ({ app, change, at }) => ({
    subject: `Sign-in details changed for ${app}`,
    before: [
      {
        email: `An administrator of ${app} changed the email address of your account. Codes go to the new address now.`,
        phone: `An administrator of ${app} changed the phone number of your account.`,
        both: `An administrator of ${app} changed the email address and the phone number of your account. Codes go to the new ones now.`,
      }[change],
      `Time: ${time(at)}`,
      `If you did not expect this, contact the team behind ${app} immediately.`,
    ],
    after: [],
  }),
  'new-device': ({ app, device, at }) => ({
    subject: `New device for ${app}`,
    before: [
      `A new device can now sign in to ${app} as you.`,
      `Device: ${device}`,
      `Time: ${time(at)}`,
      `If this was not you, contact the team behind ${app} immediately, and check who can read your email.`,
    ],
    after: [],
  }),
  'passkey-changed': ({ app, change, passkey, at }) => ({
    subject: `Passkeys changed for ${app}`,
    before: [
      change === 'added'
        ? `A passkey was added to your account for ${app}. It can sign in as you without a code.`
        : `A passkey was removed from your account for ${app}. It can no longer sign in.`,
      `Passkey: ${passkey}`,
      `Time: ${time(at)}`,
      `If this was not you, contact the team behind ${app} immediately.`,
    ],
    after: [],
  }),
  'factor-changed': ({ app, change, method, at }) => ({
    subject: `Second step changed for ${app}`,
    before: [
      {
        added: `A second step was added to your sign-in to ${app}.`,
        replaced: `The second step of your sign-in to ${app} was replaced.`,
        removed: `A second step was removed from your sign-in to ${app}.`,
      }[change],
      `Second step: ${{ email: 'code by email', sms: 'code by text message', totp: 'authenticator app' }[method]}`,
      `Time: ${time(at)}`,
      `If this was not you, contact the team behind ${app} immediately.`,
    ],
    after: [],
  }),
  'recovery-code-used': ({ app, left, at }) => ({
    subject: `A recovery code was used for ${app}`,
    before: [
      `One of your recovery codes was used to sign in to ${app}.`,
      `Time: ${time(at)}`,
      `Recovery codes left: ${left}`,
      `If this was not you, contact the team behind ${app} immediately.`,
    ],
    after: [],
  }),
  'recovery-codes-renewed': ({ app, at }) => ({
    subject: `New recovery codes for ${app}`,
    before: [
      `Ten new recovery codes were created for your sign-in to ${app}. The previous ones no longer work.`,
      `Time: ${time(at)}`,
      `If this was not you, contact the team behind ${app} immediately.`,
    ],
    after: [],
  }),
  'recovery-granted': ({ app, from, until, cancelUrl }) => ({
    subject: `Account recovery was started for ${app}`,
    before: [
      `An administrator of ${app} allowed one sign-in to your account without your passkey or second step.`,
      `It can be used from ${time(from)} to ${time(until)}, with a code sent to your email and a code from the administrator.`,
      'If you asked for this, wait for the first time above.',
      `If not, cancel it here: ${cancelUrl}`,
    ],
    after: [],
  }),
  'recovery-used': ({ app, at }) => ({
    subject: `Account recovery was used for ${app}`,
    before: [
      `Someone signed in to your account for ${app} without your passkey or second step, with a code sent to your email and a code from an administrator.`,
      `Time: ${time(at)}`,
      `If this was not you, contact the team behind ${app} immediately, and check who can read your email.`,
    ],
    after: [],
  }),
  invitation: ({ app, url }) => ({
    subject: `You are invited to ${app}`,
    before: [
      `An administrator of ${app} created an account for you.`,
      `Sign in here: ${url}`,
      'You get a code at this address each time you sign in on a new device. There is no password.',
      `If you do not know ${app}, ignore this message.`,
    ],
    after: [],
  }),
  'sign-up-approved': ({ app, url }) => ({
    subject: `Your account for ${app} is ready`,
    before: [
      `An administrator of ${app} approved your request.`,
      `Sign in here: ${url}`,
      'You get a code at this address each time you sign in on a new device. There is no password.',
      `If you do not know ${app}, ignore this message.`,
    ],
    after: [],
  }),
  'admin-invitation': ({ app, role, url }) => ({
    subject: `You have access to ${app} in the admin console`,
    before: [
      {
        owner: `You are now an owner of ${app}, with full access to every project.`,
        project_admin: `You are now an admin of the project ${app}.`,
        project_viewer: `You can now view the project ${app}.`,
      }[role],
      `Sign in to the console with this address: ${url}`,
      'If you did not expect this, ignore this message.',
    ],
    after: [],
  }),
  'scim-token-expiring': ({ app, token, days, at }) => ({
    subject: `The directory token ${token} for ${app} expires in ${days} ${days === 1 ? 'day' : 'days'}`,
    before: [
      `The SCIM token ${token} of ${app} expires soon. The directory can then no longer create, change or deactivate users.`,
      `Expires: ${time(at)}`,
      'To rotate it, issue a new token in the console under Directory sync, set it in the directory, then revoke the old one.',
    ],
    after: [],
  }),
  'webhook-disabled': ({ app, webhook, since, at }) => ({
    subject: `The webhook ${webhook} of ${app} was disabled`,
    before: [
      `Latchkey disabled the webhook to ${webhook} of ${app}. It has not accepted events since ${time(since)}.`,
      `Time: ${time(at)}`,
      'Fix the receiver, then enable the webhook in the console under Webhooks, and replay the failed deliveries.',
    ],
    after: [],
  }),
  'domain-failing': ({ app, domain, fault, since, until }) => ({
    subject: `The domain ${domain} of ${app} needs attention`,
    before: [
      fault === 'missing'
        ? `The DNS record that verifies ${domain} for ${app} has been missing since ${time(since)}.`
        : `The name servers of ${domain}, a domain of ${app}, have not answered since ${time(since)}.`,
      `If this does not change, users can no longer sign in there after ${time(until)}. Its sessions and devices end then.`,
      'The console shows the record under Settings, Custom domains.',
    ],
    after: [],
  }),
  'domain-lost': ({ app, domain, fault, since, at }) => ({
    subject: `The domain ${domain} of ${app} stopped working`,
    before: [
      fault === 'missing'
        ? `The DNS record that verifies ${domain} for ${app} has been missing since ${time(since)}.`
        : `The name servers of ${domain}, a domain of ${app}, have not answered since ${time(since)}.`,
      'Users can no longer sign in there. Its sessions and devices have ended, and another project can verify the domain.',
      `Time: ${time(at)}`,
      'If the domain is still yours, restore the DNS record, then check it in the console under Settings, Custom domains. If not, move its applications to another issuer, and rotate their client secrets.',
    ],
    after: [],
  }),
  'test-message': ({ app, at }) => ({
    subject: `Test message from ${app}`,
    before: [`This is a test message from ${app}. Delivery works.`, `No action is needed. Time: ${time(at)}`],
    after: [],
  }),
};
