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

/** "Firefox on Windows", guessed from the user agent. */
export function browserName(userAgent: string | null | undefined): string {
  if (!userAgent) return t('an unknown browser');
  const browser =
    (/Edg\//.test(userAgent) && 'Edge') ||
    (/OPR\//.test(userAgent) && 'Opera') ||
    (/Firefox\//.test(userAgent) && 'Firefox') ||
    (/Chrome\//.test(userAgent) && 'Chrome') ||
    (/Safari\//.test(userAgent) && 'Safari') ||
    userAgent.split(/[/ ]/)[0];
  const system =
    (/iPhone|iPad/.test(userAgent) && 'iOS') ||
    (/Android/.test(userAgent) && 'Android') ||
    (/Windows/.test(userAgent) && 'Windows') ||
    (/Mac OS X/.test(userAgent) && 'macOS') ||
    (/Linux/.test(userAgent) && 'Linux');
  return system ? t('{browser} on {system}', { browser: String(browser), system }) : String(browser);
}
