import type { Request, Response } from 'express';
import type { DpopNonces } from '../domain/clients/dpop/dpop-nonces.ts';
import type { CheckedProof, DpopProofs } from '../domain/clients/dpop/dpop-proofs.ts';
import { refuse } from '../domain/kernel/problem.ts';

export interface DpopDeps {
  proofs: Pick<DpopProofs, 'check'>;
  nonces: Pick<DpopNonces, 'current'>;
}

/**
 * The valid proof of a request (RFC 9449 §4); null if it has none. Its response then has a nonce for the next one (§8.2).
 * Refuses `proof-rejected` and `nonce-rejected`.
 *
 * @param url address of the endpoint
 * @param accessToken the token that came with it
 */
export async function proofOf(
  { proofs, nonces }: DpopDeps,
  req: Request,
  res: Response,
  url: string,
  accessToken?: string,
): Promise<CheckedProof | null> {
  const [header, ...others] = req.headersDistinct['dpop'] ?? [];
  if (header === undefined) return null;
  res.setHeader('DPoP-Nonce', nonces.current());
  // Proxies join repeated headers.
  if (others.length > 0 || header.includes(',')) {
    refuse({ code: 'proof-rejected', reason: 'several headers', detail: 'Send one DPoP header, with one proof.' });
  }
  return proofs.check(header, { method: req.method, url, accessToken });
}
