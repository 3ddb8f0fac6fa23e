import type { MessageState, MessageTemplate } from '../generated/operations.ts';
import type { Tone } from '../theme.ts';

export const templateNames: Record<MessageTemplate, string> = {
  SIGN_IN_CODE: 'Sign-in code',
  FACTOR_CODE: 'Code of the second factor',
  PHONE_CODE: 'Code for a new phone number',
  PHONE_CHANGED: 'Phone number changed',
  NEW_DEVICE: 'New device',
  PASSKEY_CHANGED: 'Passkey changed',
  FACTOR_CHANGED: 'Second factor changed',
  RECOVERY_CODE_USED: 'Recovery code used',
  RECOVERY_CODES_RENEWED: 'New recovery codes',
  RECOVERY_GRANTED: 'Account recovery granted',
  RECOVERY_USED: 'Account recovery used',
  INVITATION: 'Invitation',
  ADMIN_INVITATION: 'Invitation of an admin',
  SCIM_TOKEN_EXPIRING: 'Directory token expires',
  WEBHOOK_DISABLED: 'Webhook disabled',
  TEST_MESSAGE: 'Test message',
};

export const states: Record<MessageState, { name: string; tone: Tone }> = {
  PENDING: { name: 'Pending', tone: 'note' },
  SENT: { name: 'Sent', tone: 'good' },
  SUPPRESSED: { name: 'Blocked: user is deactivated', tone: 'neutral' },
  FAILED: { name: 'Failed', tone: 'bad' },
  EXPIRED: { name: 'Expired', tone: 'bad' },
};

export const channels = { MAIL: 'Mail', SMS: 'Text message' } as const;

/** Keys as in the server's responses. */
export const stageNames: Record<string, string> = {
  settings: 'Settings',
  dns: 'Look up the server (DNS)',
  connect: 'Connect',
  tls: 'Encrypt (TLS)',
  'sign-in': 'Sign in',
  send: 'Send',
  reach: 'Reach the gateway',
  authorise: 'Authorize',
  accept: 'Accept the message',
};

export const senderKinds: Record<string, string> = {
  smtp: 'Mail server (SMTP)',
  'sms-gateway': 'HTTP gateway',
  twilio: 'Twilio',
  mailbox: 'Dev mailbox',
};
