import type { Client } from '../domain/clients/client.entity.ts';
import type { CheckedProof } from '../domain/clients/dpop/dpop-proofs.ts';
import { fapiAlgorithms } from '../domain/clients/fapi.ts';
import { refuse } from '../domain/kernel/problem.ts';

/** Refuses a token request without the proof that its client needs (RFC 9449 §5.2 and §8). */
export function requireProof<T extends { client: Client }>(caller: T, proof: CheckedProof | null): T {
  const { dpopRequired, fapiProfile } = caller.client;
  if (proof) checkProof(caller.client, proof);
  else if (dpopRequired || fapiProfile) refuse({ code: 'proof-required' });
  return caller;
}

/** Refuses a proof that does not suffice for its client. */
export function checkProof({ dpopNonceRequired, fapiProfile }: Client, proof: CheckedProof): void {
  if (dpopNonceRequired && !proof.hasNonce) refuse({ code: 'nonce-rejected' });
  if (!fapiProfile || fapiAlgorithms.includes(proof.alg)) return;
  const detail =
    'The application uses the FAPI 2.0 Security Profile: its DPoP proofs are signed with PS256, ES256 or EdDSA.';
  refuse({ code: 'proof-rejected', reason: 'algorithm', detail });
}
