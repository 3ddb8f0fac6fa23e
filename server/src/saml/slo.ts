import type { Request, RequestHandler, Response } from 'express';
import type { Client } from '../domain/clients/client.entity.ts';
import type { ClientRegistry } from '../domain/clients/client-registry.ts';
import type { SamlLogout } from '../domain/logout/saml-logout.ts';
import { redirectTo } from '../domain/saml/bindings.ts';
import { checkFresh } from '../domain/saml/messages/authn-request.ts';
import { type LogoutRequest, newLogoutResponse, readLogoutRequest } from '../domain/saml/messages/logout.ts';
import { SamlError } from '../domain/saml/saml-error.ts';
import { entityIdOf, samlId } from '../domain/tokens/saml-answers.ts';
import type { TokenRefusals } from '../domain/tokens/token-refusals.ts';
import { actorOf } from '../http/context.ts';
import { issuerOf } from '../http/issuer.ts';
import type { Answering } from './answering.ts';
import { receivedMessage } from './received.ts';

export interface SloDeps extends Pick<Answering, 'clock' | 'random' | 'samlKeys'> {
  registry: Pick<ClientRegistry, 'bySamlEntityId'>;
  samlLogout: Pick<SamlLogout, 'end'>;
  refusals: Pick<TokenRefusals, 'record'>;
  errorPage(req: Request, res: Response, status: number, reason: 'client' | 'parameters'): void | Promise<void>;
}

const maxAgeSeconds = 300;

/** `GET` and `POST {issuer}/saml/slo`: a LogoutRequest of an application (SAML Profiles section 4.4), always signed. */
export function sloEndpoint(deps: SloDeps): RequestHandler {
  return async (req, res) => {
    let client: Client | null = null;
    try {
      const issuer = issuerOf(req);
      const received = receivedMessage(req, 'SAMLRequest');
      client = await deps.registry.bySamlEntityId(issuer.project?.id ?? '', readLogoutRequest(received.message).issuer);
      const target = client?.samlLogoutUri;
      if (!client || target == null) throw new SamlError('issuer-mismatch', 'no application with logout');
      const signed = received.signedBy(client);
      if (!signed) throw new SamlError('unsigned', 'LogoutRequest');
      const request = readLogoutRequest(signed);
      checkFresh(request, { now: deps.clock.now(), endpoint: `${issuer.url}/saml/slo`, maxAgeSeconds });
      const outcome = await deps.samlLogout.end(client, request, actorOf(req));
      await respond(deps, req, res, { client, target, request, outcome, relayState: received.relayState });
    } catch (error) {
      if (!(error instanceof SamlError)) throw error;
      const { reason, detail } = error;
      const refusal = { type: 'authorization.refused', clientId: client?.id, actor: actorOf(req) } as const;
      await deps.refusals.record({ ...refusal, reason, description: detail });
      await deps.errorPage(req, res, 400, error.reason === 'issuer-mismatch' ? 'client' : 'parameters');
    }
  };
}

interface Ended {
  client: Client;
  target: string;
  request: LogoutRequest;
  outcome: Awaited<ReturnType<SamlLogout['end']>>;
  relayState: string | undefined;
}

async function respond(deps: SloDeps, req: Request, res: Response, ended: Ended): Promise<void> {
  const { client, target, request, outcome, relayState } = ended;
  const envelope = {
    ...{ id: samlId(deps.random), issuer: entityIdOf(issuerOf(req)), at: deps.clock.now() },
    ...{ destination: target, inResponseTo: request.id },
  };
  const details = { ended: undefined, partial: 'partialLogout', refused: 'requestDenied' } as const;
  const { xml } = newLogoutResponse(envelope, details[outcome]);
  const key = await deps.samlKeys.signing(client.project.id);
  res.redirect(303, await redirectTo(target, { name: 'SAMLResponse', xml, relayState }, key));
}
