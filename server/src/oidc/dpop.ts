import type { Client } from '../domain/clients/client.entity.ts';
import type { JudgedProof } from '../domain/clients/dpop/dpop-proofs.ts';
import { refuse } from '../domain/kernel/problem.ts';

/** Refuses a token request without the proof that its client needs (RFC 9449 §5.2 and §8). */
export function checkProof<T extends { client: Client }>(caller: T, proof: JudgedProof | null): T {
  const { dpopRequired, dpopNonceRequired } = caller.client;
  if (proof === null && dpopRequired) refuse({ code: 'proof-required' });
  if (proof !== null && dpopNonceRequired && !proof.hasNonce) refuse({ code: 'nonce-rejected' });
  return caller;
}
