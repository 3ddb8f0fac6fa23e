import { isLive, type Lifetime, stateOf } from '../ui/secrets/expiry.ts';

/** A directory's token, as far as its expiry matters. */
export interface ExpiringToken extends Lifetime {
  id: string;
  name: string;
}

/** The tokens whose expiry needs an admin. */
export interface Expiring<Token> {
  /** Live tokens that expire within 30 days, soonest first. */
  soon: Token[];
  /** The token that expired last, if it has left the directory without any: the sync has stopped. */
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
