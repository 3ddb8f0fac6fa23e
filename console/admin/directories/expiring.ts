import { isLive, type Lifetime, stateOf } from '../ui/secrets/expiry.ts';

/** The fields of a directory token that its expiry warning needs. */
export interface ExpiringToken extends Lifetime {
  id: string;
  name: string;
}

/** The tokens to warn about. */
export interface Expiring<Token> {
  /** Live tokens that expire within 30 days, soonest first. */
  soon: Token[];
  /** The token that expired last, if no token is live: the sync has stopped. */
  last: Token | undefined;
}

export function expiringOf<Token extends ExpiringToken>(tokens: readonly Token[]): Expiring<Token> {
  const inOrder = tokens.toSorted((a, b) => timeOf(a) - timeOf(b));
  return {
    soon: inOrder.filter((token) => stateOf(token) === 'ending'),
    last: tokens.some(isLive) ? undefined : inOrder.findLast((token) => stateOf(token) === 'expired'),
  };
}

const timeOf = ({ expiresAt }: Lifetime) => (expiresAt ? Date.parse(expiresAt) : Number.POSITIVE_INFINITY);
