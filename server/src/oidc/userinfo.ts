import type { Request, RequestHandler, Response } from 'express';
import type { CheckedProof } from '../domain/clients/dpop/dpop-proofs.ts';
import { dpopAlgorithms } from '../domain/kernel/openid.ts';
import { Refusal } from '../domain/kernel/problem.ts';
import type { Issuer } from '../domain/projects/issuer.ts';
import type { UserInfoOutcome } from '../domain/tokens/tokens.ts';
import { type DpopDeps, proofOf } from '../http/dpop.ts';
import { issuerOf } from '../http/issuer.ts';
import { parametersOf, queryOf } from '../http/parameters.ts';
import { type OAuthErrorCode, toOAuthError } from './oauth-error.ts';

export interface UserInfoDeps extends DpopDeps {
  tokens: { userInfo(accessToken: string, issuer: Issuer, proof?: CheckedProof): Promise<UserInfoOutcome> };
}

/** Authentication scheme of a token: RFC 6750 §2, RFC 9449 §7.1. */
type Scheme = 'Bearer' | 'DPoP';

interface Sent {
  scheme: Scheme;
  token: string;
}

/** `GET` and `POST /userinfo` (OpenID Connect Core §5.3, RFC 6750 §2.1 and §2.2, RFC 9449 §7; service.md 7.4). */
export function userInfoEndpoint(deps: UserInfoDeps): RequestHandler {
  return async (req, res) => {
    if (new URLSearchParams(queryOf(req)).has('access_token')) {
      return challenge(res, 'Bearer', 400, 'invalid_request', 'The access token must not be sent in the query.');
    }
    const sent = sentToken(req);
    if (sent === undefined) {
      res.status(401).setHeader('WWW-Authenticate', 'Bearer').end();
      return;
    }
    if (sent === null) {
      const description = 'Send one access token, in the Authorization header.';
      return challenge(res, 'Bearer', 400, 'invalid_request', description);
    }
    const { scheme } = sent;
    const outcome = await read(deps, req, res, sent);
    if ('claims' in outcome) {
      res.json(outcome.claims);
      return;
    }
    const { refused } = outcome;
    if (refused === 'insufficient_scope') {
      return challenge(res, scheme, 403, refused, 'The access token lacks the scope openid.', { scope: 'openid' });
    }
    if (typeof refused !== 'string') return challenge(res, 'DPoP', 401, refused.error, refused.description);
    challenge(res, refused === 'bound' ? 'DPoP' : scheme, 401, 'invalid_token', faults[refused]);
  };
}

const faults = {
  invalid_token: 'The access token is expired, revoked, or not valid for UserInfo.',
  bound: 'The access token is bound to a key: send it with the scheme DPoP and a proof.',
  'not-bound': 'The access token is not bound to a key: send it with the scheme Bearer.',
} as const;

type Outcome = UserInfoOutcome | { refused: { error: OAuthErrorCode; description: string } };

async function read(deps: UserInfoDeps, req: Request, res: Response, { scheme, token }: Sent): Promise<Outcome> {
  const issuer = issuerOf(req);
  if (scheme === 'Bearer') return deps.tokens.userInfo(token, issuer);
  try {
    const proof = await proofOf(deps, req, res, `${issuer.url}/userinfo`, token);
    if (proof) return await deps.tokens.userInfo(token, issuer, proof);
    const description = 'The scheme DPoP needs a proof in the header DPoP.';
    return { refused: { error: 'invalid_dpop_proof', description } };
  } catch (error) {
    if (!(error instanceof Refusal) || !isAboutProof(error)) throw error;
    return { refused: toOAuthError(error) };
  }
}

function isAboutProof({ problem }: Refusal): boolean {
  return problem.code === 'proof-rejected' || problem.code === 'nonce-rejected';
}

/** The token; undefined if none was sent, null if it was sent twice or is malformed. */
function sentToken(req: Request): Sent | null | undefined {
  const header = req.get('authorization');
  const inBody = req.method === 'POST' ? parametersOf(req) : undefined;
  const fromBody = inBody?.get('access_token');
  if (inBody?.faults.includes('access_token')) return null;
  if (header === undefined) return fromBody === undefined ? undefined : { scheme: 'Bearer', token: fromBody };
  return fromBody === undefined ? authorization(header) : null;
}

/** The token of an Authorization header; null if it is malformed. */
function authorization(header: string): Sent | null | undefined {
  const [, scheme, token] = /^(bearer|dpop) +([^\s]+) *$/i.exec(header) ?? [];
  // Another scheme: a challenge without an error (RFC 6750 §3).
  if (scheme === undefined || token === undefined) return /^(bearer|dpop)\b/i.test(header) ? null : undefined;
  return { scheme: scheme.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer', token };
}

function challenge(
  res: Response,
  scheme: Scheme,
  status: number,
  error: OAuthErrorCode,
  description: string,
  further: Record<string, string> = {},
): void {
  const algs = scheme === 'DPoP' ? { algs: dpopAlgorithms.join(' ') } : {};
  const fields = Object.entries({ error, error_description: description, ...further, ...algs });
  const text = fields.map(([name, value]) => `${name}="${value}"`).join(', ');
  res.status(status).setHeader('WWW-Authenticate', `${scheme} ${text}`);
  res.json({ error, error_description: description });
}
