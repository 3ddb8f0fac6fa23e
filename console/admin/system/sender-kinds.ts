import { t } from '../language/language.ts';

export const senderKinds: Record<string, string> = {
  smtp: t('Mail server (SMTP)'),
  'sms-gateway': t('HTTP gateway'),
  twilio: t('Twilio'),
  mailbox: t('Dev mailbox'),
};
