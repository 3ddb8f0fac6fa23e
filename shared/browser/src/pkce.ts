import { randomText, sha256, utf8 } from './encoding.ts';
import { requireCrypto } from './environment.ts';

/** A verifier and its challenge (RFC 7636). */
export type Pkce = {
  /** Send it to the back end that exchanges the code. */
  codeVerifier: string;
  /** Pass it to `authenticate` as `code_challenge`. */
  codeChallenge: string;
  codeChallengeMethod: 'S256';
};

/**
 * Creates a PKCE pair: 256 random bits, method S256 (RFC 7636 §4.1, §4.2).
 *
 * @throws LatchkeyError INSECURE_CONTEXT
 */
export async function createPkce(): Promise<Pkce> {
  requireCrypto();
  const codeVerifier = randomText(32);
  return { codeVerifier, codeChallenge: await sha256(utf8(codeVerifier)), codeChallengeMethod: 'S256' };
}
