import type { Request, RequestHandler, Response } from 'express';
import type { Issuer } from '../domain/projects/issuer.ts';
import type { UserInfoOutcome } from '../domain/tokens/tokens.ts';
import { parametersOf, queryOf } from '../http/parameters.ts';
import { issuerOf } from './issuer.ts';
import type { OAuthErrorCode } from './oauth-error.ts';

export interface UserInfoDeps {
  tokens: { userInfo(accessToken: string, issuer: Issuer): Promise<UserInfoOutcome> };
}

/** `GET` and `POST /userinfo` (OpenID Connect Core §5.3, RFC 6750 §2.1 and §2.2; service.md 7.4). */
export function userInfoEndpoint(deps: UserInfoDeps): RequestHandler {
  return async (req, res) => {
    if (new URLSearchParams(queryOf(req)).has('access_token')) {
      return refuseBearer(res, 400, 'invalid_request', 'The access token must not be sent in the query.');
    }
    const token = bearerToken(req);
    if (token === undefined) {
      res.status(401).setHeader('WWW-Authenticate', 'Bearer').end();
      return;
    }
    if (token === null) {
      return refuseBearer(res, 400, 'invalid_request', 'Send one access token, in the Authorization header.');
    }
    const outcome = await deps.tokens.userInfo(token, issuerOf(req));
    if (!('refused' in outcome)) {
      res.json(outcome.claims);
      return;
    }
    if (outcome.refused === 'insufficient_scope') {
      return refuseBearer(res, 403, 'insufficient_scope', 'The access token lacks the scope openid.', 'openid');
    }
    return refuseBearer(res, 401, 'invalid_token', 'The access token is expired, revoked, or not valid for UserInfo.');
  };
}

/** The token; undefined if none was sent, null if it was sent twice or is malformed. */
function bearerToken(req: Request): string | null | undefined {
  const header = req.get('authorization');
  const inBody = req.method === 'POST' ? parametersOf(req) : undefined;
  const fromBody = inBody?.get('access_token');
  if (inBody?.faults.includes('access_token')) return null;
  if (header === undefined) return fromBody;
  return fromBody === undefined ? bearer(header) : null;
}

/** The token of an Authorization header; null if it is malformed. */
function bearer(header: string | undefined): string | null | undefined {
  if (header === undefined) return undefined;
  const match = /^bearer +([^\s]+) *$/i.exec(header);
  // Another scheme: a challenge without an error (RFC 6750 §3).
  return match?.[1] ?? (/^bearer\b/i.test(header) ? null : undefined);
}

function refuseBearer(res: Response, status: number, error: OAuthErrorCode, description: string, scope?: string): void {
  const fields = [`error="${error}"`, `error_description="${description}"`, ...(scope ? [`scope="${scope}"`] : [])];
  res.status(status).setHeader('WWW-Authenticate', `Bearer ${fields.join(', ')}`);
  res.json({ error, error_description: description });
}
