import type { Request, RequestHandler } from 'express';
import type { ClientRegistry } from '../domain/clients/client-registry.ts';
import { Refusal } from '../domain/kernel/problem.ts';
import type { Introspection } from '../domain/tokens/introspection.ts';
import { actorOf } from '../http/context.ts';
import { issuerOf } from '../http/issuer.ts';
import { authenticateClient, type ClientAuthDeps } from './client-auth.ts';
import { formOf } from './client-credential.ts';
import { OAuthError } from './oauth-error.ts';

export interface IntrospectDeps extends ClientAuthDeps {
  clients: Pick<ClientRegistry, 'current'>;
  introspection: Pick<Introspection, 'of' | 'signed'>;
}

/** RFC 9701 section 5. */
const jwtType = 'application/token-introspection+jwt';

/** `POST {issuer}/oauth2/introspect` (RFC 7662): the state and claims of a token, as JSON or as a signed JWT. */
export function introspectEndpoint(deps: IntrospectDeps): RequestHandler {
  return async (req, res) => {
    const parameters = formOf(req);
    const issuer = issuerOf(req);
    const caller = await authenticateClient(deps, req, parameters, deps.clients.current);
    if (caller.by === 'none') {
      throw new OAuthError('invalid_client', 'Introspection needs an application with client authentication.');
    }
    // Unknown values of token_type_hint are ignored (section 2.1); so are known ones, as the token shows its type.
    const token = parameters.get('token');
    if (token === undefined) throw new OAuthError('invalid_request', 'token is missing.');
    const actor = actorOf(req, { kind: 'client', id: caller.client.id, name: caller.client.name });
    const clientIp = parameters.get('client_ip');
    const sent = { ...caller, issuer, token, clientIp, actor };
    const answer = await deps.introspection.of(sent);
    if (answer === 'client-rejected') throw new Refusal({ code: 'client-rejected', reason: 'jti was used before' });
    if (!wantsJwt(req)) return void res.json(answer);
    // Without a charset, which `send` would add.
    res.setHeader('Content-Type', jwtType).end(await deps.introspection.signed(sent, answer));
  };
}

function wantsJwt(req: Request): boolean {
  return req.accepts(['application/json', jwtType]) === jwtType;
}
