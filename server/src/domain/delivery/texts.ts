import { type MailKey, mailTexts } from './generated/texts.ts';
import { formatMessage } from './icu.ts';
import { directionOf, type Locale } from './locale.ts';
import { type MessageContent, timeIn, type Wording } from './wording.ts';

type Content<T extends MessageContent['template']> = Extract<MessageContent, { template: T }>;
/** Keys of the texts of a message. The subject is that of the template. */
interface Outline {
  before: MailKey[];
  after?: MailKey[];
}

const invited = ['signIn', 'passwordless', 'unknownApp'] as const;

const outlines: { [T in MessageContent['template']]: (content: Content<T>) => Outline } = {
  'sign-in-code': () => ({ before: ['sign-in-code.intro'], after: ['expiresHere', 'ignoreCode'] }),
  'factor-code': () => ({ before: ['factor-code.intro'], after: ['expires', 'factor-code.warning'] }),
  'phone-code': () => ({ before: ['phone-code.intro'], after: ['expires', 'ignore'] }),
  'email-code': () => ({ before: ['email-code.intro'], after: ['expiresHere', 'ignoreCode'] }),
  'phone-changed': () => ({ before: ['phone-changed.text', 'time', 'contact'] }),
  'email-changed': () => ({ before: ['email-changed.text', 'time', 'contact'] }),
  'login-changed': ({ change }) => ({ before: [`login-changed.${change}`, 'time', 'login-changed.contact'] }),
  'account-moved': () => ({ before: ['account-moved.text', 'time', 'login-changed.contact'] }),
  'new-device': () => ({ before: ['new-device.intro', 'new-device.device', 'time', 'contactAndMail'] }),
  'passkey-changed': ({ change }) => ({
    before: [`passkey-changed.${change}`, 'passkey-changed.passkey', 'time', 'contact'],
  }),
  'identity-changed': ({ change }) => ({
    before: [`identity-changed.${change}`, 'identity-changed.provider', 'time', 'contact'],
  }),
  'factor-changed': ({ change, method }) => ({
    before: [`factor-changed.${change}`, `factor-changed.${method}`, 'time', 'contact'],
  }),
  'recovery-code-used': () => ({
    before: ['recovery-code-used.text', 'time', 'recovery-code-used.left', 'contact'],
  }),
  'recovery-codes-renewed': () => ({ before: ['recovery-codes-renewed.text', 'time', 'contact'] }),
  'recovery-granted': () => ({
    before: ['recovery-granted.text', 'recovery-granted.window', 'recovery-granted.wait', 'recovery-granted.cancel'],
  }),
  'recovery-used': () => ({ before: ['recovery-used.text', 'time', 'contactAndMail'] }),
  impersonation: () => ({
    before: ['impersonation.text', 'impersonation.reason', 'time', 'impersonation.end', 'login-changed.contact'],
  }),
  'deletion-requested': () => ({ before: ['deletion-requested.text', 'deletion-requested.cancel', 'contact'] }),
  'deletion-cancelled': () => ({ before: ['deletion-cancelled.text', 'time', 'deletion-cancelled.again'] }),
  'account-deleted': () => ({ before: ['account-deleted.text', 'account-deleted.applications'] }),
  invitation: () => ({ before: ['invitation.text', ...invited] }),
  'organization-invitation': () => ({
    before: ['organization-invitation.text', 'organization-invitation.accept', 'admin-invitation.ignore'],
  }),
  'portal-link': () => ({ before: ['portal-link.text', 'portal-link.open', 'portal-link.replaces'] }),
  'sign-up-approved': () => ({ before: ['sign-up-approved.text', ...invited] }),
  'sign-up-requests': () => ({ before: ['sign-up-requests.text', 'sign-up-requests.review'] }),
  'admin-invitation': ({ role }) => ({
    before: [`admin-invitation.${role}`, 'admin-invitation.signIn', 'admin-invitation.ignore'],
  }),
  'scim-token-expiring': () => ({
    before: ['scim-token-expiring.text', 'scim-token-expiring.expires', 'scim-token-expiring.rotate'],
  }),
  'certificate-expiring': () => ({ before: ['certificate-expiring.text', 'scim-token-expiring.expires'] }),
  'webhook-disabled': () => ({ before: ['webhook-disabled.text', 'time', 'webhook-disabled.fix'] }),
  'domain-failing': ({ fault }) => ({
    before: [`domain.${fault}`, 'domain-failing.ends', 'domain-failing.console'],
  }),
  'domain-lost': ({ fault }) => ({
    before: [`domain.${fault}`, 'domain-lost.ended', 'time', 'domain-lost.restore'],
  }),
  'test-message': () => ({ before: ['test-message.text', 'test-message.time'] }),
};

/** Values that are instants. */
const instants = ['at', 'from', 'since', 'until'];
/** Names that other people choose, often in another script. */
const names = [
  'app',
  'client',
  'connection',
  'device',
  'domain',
  'email',
  'organization',
  'passkey',
  'reason',
  'token',
  'webhook',
];

/** The texts of a message, without the project's own. */
export function wordingIn(locale: Locale, content: MessageContent): Wording {
  const values = Object.fromEntries(
    Object.entries(content).map(([name, value]) => [name, shown(locale, name, value as string | number)]),
  );
  const text = (key: MailKey) => formatMessage(mailTexts[locale][key], locale, values);
  const { before, after = [] } = (outlines[content.template] as (content: MessageContent) => Outline)(content);
  return { subject: text(`${content.template}.subject`), before: before.map(text), after: after.map(text) };
}

/** A name in a right-to-left sentence is isolated: it would change the order of the words around it (UAX #9). */
function shown(locale: Locale, name: string, value: string | number): string | number {
  if (instants.includes(name)) return timeIn(locale, String(value));
  return names.includes(name) && directionOf(locale) === 'rtl' ? `\u2068${value}\u2069` : value;
}
