import { newSecret, type Random } from '../kernel/random.ts';
import type { Vault } from '../keys/vault.ts';

/** A refresh token: `lk_rt_`, the name of its family, and a secret, each of 256 bits. */
export interface RefreshToken {
  text: string;
  family: string;
  secret: string;
}

const prefix = 'lk_rt_';
const syntax = /^lk_rt_([A-Za-z0-9_-]{43})([A-Za-z0-9_-]{43})$/;

/** The first token of a new family. */
export function firstToken(random: Random): RefreshToken {
  return tokenOf(newSecret(random), newSecret(random));
}

/** Null for any other text. */
export function parseRefreshToken(text: string): RefreshToken | null {
  const [, family, secret] = syntax.exec(text) ?? [];
  return family === undefined || secret === undefined ? null : { text, family, secret };
}

/**
 * The possible successors of this token. The first one is used; there are others only while the master key is changed.
 * They are derived from the token itself, so that parallel requests get the same one, and nothing is stored.
 *
 * @param renewals the number of its successors that were replaced unused
 */
export function successors(vault: Vault, { family, secret }: RefreshToken, renewals = 0): RefreshToken[] {
  const seed = renewals === 0 ? secret : `${secret}.${renewals}`;
  return vault.macs('refresh-token', family, seed).map((next) => tokenOf(family, next));
}

function tokenOf(family: string, secret: string): RefreshToken {
  return { text: `${prefix}${family}${secret}`, family, secret };
}
