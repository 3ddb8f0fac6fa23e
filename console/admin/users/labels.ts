import { t } from '../language/language.ts';

const methodNames: Record<string, string> = {
  swk: t('device key'),
  otp: t('one-time code'),
  sms: t('text message'),
  mfa: t('second factor'),
};

/** Names of authentication methods (RFC 8176). Only a passkey has `pop`; its `hwk`, `swk` and `user` add nothing. */
export function methodsIn(amr: readonly string[]): string {
  const isPasskey = amr.includes('pop');
  const others = isPasskey ? amr.filter((one) => !['hwk', 'swk', 'user', 'pop'].includes(one)) : amr;
  return [...(isPasskey ? [t('passkey')] : []), ...others.map((one) => methodNames[one] ?? one)].join(', ');
}
