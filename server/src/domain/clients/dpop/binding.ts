import type { JWTPayload } from 'jose';
import { refuse } from '../../kernel/problem.ts';
import { lacksNonce, needsProof } from '../../policy/client.ts';
import type { Client } from '../client.entity.ts';
import { fapiAlgorithms } from '../fapi.ts';
import type { CheckedProof } from './dpop-proofs.ts';

/** The key that codes and tokens are bound to: the thumbprint of a proof's key (RFC 9449 §6, §10); null: none. */
type BoundKey = string | null;
type Proof = CheckedProof | null | undefined;

/** Refuses a token request without the proof that its client needs. */
export function requireProof<T extends { client: Client }>(caller: T, proof: CheckedProof | null): T {
  if (proof) checkProof(caller.client, proof);
  else if (needsProof(caller.client)) refuse({ code: 'proof-required' });
  return caller;
}

/** Refuses a proof that does not suffice for its client. */
export function checkProof(client: Client, proof: CheckedProof): void {
  if (lacksNonce(client, proof)) refuse({ code: 'nonce-rejected' });
  if (!client.fapiProfile || fapiAlgorithms.includes(proof.alg)) return;
  const detail =
    'The application uses the FAPI 2.0 Security Profile: its DPoP proofs are signed with PS256, ES256 or EdDSA.';
  refuse({ code: 'proof-rejected', reason: 'algorithm', detail });
}

/** Whether a request has a proof if what it presents is bound to a key. */
export const hasProof = (key: BoundKey, proof: Proof): boolean => key === null || proof != null;

/** Whether the proof of a request is of the key that a code or refresh token is bound to, if it is. */
export const hasKey = (key: BoundKey, proof: Proof): boolean => key === null || proof?.jkt === key;

/** Whether an access token came with a proof of its key, or is bound to none and came without (RFC 9449 §7.1). */
export const isSentWithKey = (key: BoundKey, proof: Proof): boolean => (proof?.jkt ?? null) === key;

/** The claim `cnf` of a token (RFC 9449 §6.1). */
export function confirmationOf(key: BoundKey): JWTPayload {
  return key === null ? {} : { cnf: { jkt: key } };
}

/** The key that an access token is bound to. */
export function boundKeyOf(accessToken: JWTPayload): BoundKey {
  const { jkt } = (accessToken['cnf'] ?? {}) as { jkt?: unknown };
  return typeof jkt === 'string' ? jkt : null;
}
