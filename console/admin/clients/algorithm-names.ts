import type { IdTokenAlgorithm } from '../generated/operations.ts';

/** Signatures of ID tokens. */
export const algorithmNames: Record<IdTokenAlgorithm, string> = {
  ES512: 'ES512',
  ES256: 'ES256',
  RS256: 'RS256',
  EDDSA: 'EdDSA',
};
