import { compared, type ReportLine, received } from '../report.ts';

interface Expected {
  issuer: string;
  clientId: string;
  nonce: string;
  now: Date;
}

const maxClaims = 100;

/** The checks of an ID token by its claims, and then all of them. Pure. */
export function oidcReport(claims: Readonly<Record<string, unknown>>, expected: Expected): ReportLine[] {
  const { aud, email, email_verified: verified, exp, iat, iss, nonce, sub } = claims;
  const { clientId, now } = expected;
  const text = (value: unknown) => (value === undefined ? undefined : String(value));
  const seconds = Math.floor(now.getTime() / 1000);
  const hasTime = typeof exp === 'number' && typeof iat === 'number';
  const isNow = hasTime && exp > seconds - 60 && iat < seconds + 60 && iat > seconds - 600;
  const at = (value: unknown) => (typeof value === 'number' ? timeOf(value) : String(value ?? 'none'));
  return [
    compared('iss', text(iss), expected.issuer, { field: 'issuer' }),
    compared('aud', text(aud), clientId, { field: 'clientId', isWrong: ![aud].flat().includes(clientId) }),
    compared('iat, exp', `${at(iat)} to ${at(exp)}`, `containing ${now.toISOString()}, our clock`, { isWrong: !isNow }),
    compared('nonce', nonce === expected.nonce ? 'of this request' : text(nonce), 'of this request'),
    compared('sub', text(sub), 'a text of 1 to 255 characters', { isWrong: typeof sub !== 'string' || sub === '' }),
    compared('email', text(email), 'an address', { field: 'scopes', isWrong: typeof email !== 'string' }),
    compared('email_verified', text(verified), 'true, else new users prove the address by a code', { isWrong: false }),
    ...Object.entries(claims)
      .slice(0, maxClaims)
      .map(([name, value]) => received(name, value)),
  ];
}

function timeOf(seconds: number): string {
  const at = new Date(seconds * 1000);
  return Number.isNaN(at.getTime()) ? String(seconds) : at.toISOString();
}
