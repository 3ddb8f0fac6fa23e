/** Names of authentication methods (RFC 8176). */
export const methodNames: Record<string, string> = {
  swk: 'device key',
  otp: 'one-time code',
  sms: 'text message',
  mfa: 'second factor',
};

/** "Firefox on Windows", guessed from the user agent. */
export function browserName(userAgent: string | null | undefined): string {
  if (!userAgent) return 'an unknown browser';
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
  return system ? `${browser} on ${system}` : String(browser);
}
