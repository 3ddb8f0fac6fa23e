import type { RequestHandler } from 'express';
import type { ClientRegistry } from '../domain/clients/client-registry.ts';
import { Refusal } from '../domain/kernel/problem.ts';
import type { RevocableTokens } from '../domain/tokens/revocable-tokens.ts';
import { actorOf } from '../http/context.ts';
import { issuerOf } from '../http/issuer.ts';
import { authenticateClient, type ClientAuthDeps } from './client-auth.ts';
import { formOf } from './client-credential.ts';
import { OAuthError } from './oauth-error.ts';

export interface RevokeDeps extends ClientAuthDeps {
  clients: Pick<ClientRegistry, 'current'>;
  revocable: Pick<RevocableTokens, 'revoke'>;
}

/** `POST {issuer}/oauth2/revoke` (RFC 7009): ends an access token, or a refresh token with its grant. */
export function revokeEndpoint(deps: RevokeDeps): RequestHandler {
  return async (req, res) => {
    const parameters = formOf(req);
    const issuer = issuerOf(req);
    const caller = await authenticateClient(deps, req, parameters, deps.clients.current);
    const token = parameters.get('token');
    if (token === undefined) throw new OAuthError('invalid_request', 'token is missing.');
    const actor = actorOf(req, { kind: 'client', id: caller.client.id, name: caller.client.name });
    const outcome = await deps.revocable.revoke({ ...caller, issuer, token, actor });
    if (outcome === 'client-rejected') throw new Refusal({ code: 'client-rejected', reason: 'jti was used before' });
    // An unknown or ended token gets 200, too (section 2.2).
    if (outcome === 'other-client')
      throw new OAuthError('invalid_grant', 'The token was issued to another application.');
    res.status(200).end();
  };
}
