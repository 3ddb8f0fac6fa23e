import { t } from '../../language/language.ts';
/** Lifetimes offered for a new token, in days. */
export const lifetimes = [
  { value: '30', label: t('30 days') },
  { value: '90', label: t('90 days') },
  { value: '365', label: t('1 year') },
  { value: '', label: t('Never expires') },
] as const;

/** The time that many days from now, in ISO 8601; null for an empty text: never expires. */
export function moment(days: string): string | null {
  return days === '' ? null : new Date(Date.now() + Number(days) * 86_400_000).toISOString();
}

/** Expiry and revocation of a credential. */
export interface Lifetime {
  revokedAt?: string | null;
  expiresAt?: string | null;
}

export type TokenState = 'live' | 'ending' | 'expired' | 'revoked';

/** `ending`: expires within 30 days. */
export function stateOf({ revokedAt, expiresAt }: Lifetime): TokenState {
  if (revokedAt) return 'revoked';
  const left = expiresAt ? new Date(expiresAt).getTime() - Date.now() : Number.POSITIVE_INFINITY;
  if (left <= 0) return 'expired';
  return left <= 30 * 86_400_000 ? 'ending' : 'live';
}

export const isLive = (token: Lifetime): boolean => ['live', 'ending'].includes(stateOf(token));
