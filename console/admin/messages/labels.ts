import type { MessageState, MessageTemplate } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import type { Tone } from '../theme.ts';

export const templateNames: Record<MessageTemplate, string> = {
  SIGN_IN_CODE: t('Sign-in code'),
  FACTOR_CODE: t('Code of the second factor'),
  EMAIL_CODE: t('Code for a new email address'),
  PHONE_CODE: t('Code for a new phone number'),
  PHONE_CHANGED: t('Phone number changed'),
  EMAIL_CHANGED: t('Email address changed'),
  LOGIN_CHANGED: t('Sign-in details changed'),
  ACCOUNT_MOVED: t('Account managed by an organization'),
  NEW_DEVICE: t('New device'),
  PASSKEY_CHANGED: t('Passkey changed'),
  IDENTITY_CHANGED: t('Linked accounts changed'),
  FACTOR_CHANGED: t('Second factor changed'),
  RECOVERY_CODE_USED: t('Recovery code used'),
  RECOVERY_CODES_RENEWED: t('New recovery codes'),
  RECOVERY_GRANTED: t('Account recovery granted'),
  RECOVERY_USED: t('Account recovery used'),
  IMPERSONATION: t('Impersonation'),
  SIGN_UP_APPROVED: t('Sign-up approved'),
  SIGN_UP_REQUESTS: t('Sign-up requests waiting'),
  DELETION_REQUESTED: t('Account deletion requested'),
  DELETION_CANCELLED: t('Account deletion cancelled'),
  ACCOUNT_DELETED: t('Account deleted'),
  INVITATION: t('Invitation'),
  ORGANIZATION_INVITATION: t('Invitation to an organization'),
  PORTAL_LINK: t('Link to the set-up portal'),
  ADMIN_INVITATION: t('Invitation of an admin'),
  SCIM_TOKEN_EXPIRING: t('Directory token expires'),
  CERTIFICATE_EXPIRING: t('Certificate expires'),
  WEBHOOK_DISABLED: t('Webhook disabled'),
  DOMAIN_FAILING: t('Domain needs attention'),
  DOMAIN_LOST: t('Domain stopped working'),
  TEST_MESSAGE: t('Test message'),
};

export const states: Record<MessageState, { name: string; tone: Tone }> = {
  PENDING: { name: t('Pending'), tone: 'note' },
  SENT: { name: t('Sent'), tone: 'good' },
  SUPPRESSED: { name: t('Blocked: user is deactivated'), tone: 'neutral' },
  FAILED: { name: t('Failed'), tone: 'bad' },
  EXPIRED: { name: t('Expired'), tone: 'bad' },
};

export const channels = { MAIL: t('Mail'), SMS: t('Text message') } as const;

/** Keys as in the server's responses. */
export const stageNames: Record<string, string> = {
  settings: t('Settings'),
  dns: t('Look up the server (DNS)'),
  connect: t('Connect'),
  tls: t('Encrypt (TLS)'),
  'sign-in': t('Sign in'),
  send: t('Send'),
  reach: t('Reach the gateway'),
  authorise: t('Authorize'),
  accept: t('Accept the message'),
};
