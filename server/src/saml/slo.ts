import type { Request, RequestHandler, Response } from 'express';
import type { Client } from '../domain/clients/client.entity.ts';
import type { ClientRegistry } from '../domain/clients/client-registry.ts';
import type { SamlLogout } from '../domain/logout/saml-logout.ts';
import { redirectTo } from '../domain/saml/bindings.ts';
import { checkFresh, issuerOf as senderOf } from '../domain/saml/messages/authn-request.ts';
import { newLogoutResponse, readLogoutRequest, readLogoutResponse } from '../domain/saml/messages/logout.ts';
import { SamlError } from '../domain/saml/saml-error.ts';
import { entityIdOf, samlId } from '../domain/tokens/saml/saml-answers.ts';
import type { TokenRefusals } from '../domain/tokens/token-refusals.ts';
import { actorOf } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import { sendForm } from '../http/form-post.ts';
import { issuerOf } from '../http/issuer.ts';
import { parametersOf } from '../http/parameters.ts';
import type { Answering } from './answering.ts';
import { isWithoutCookies, type MessageName, receivedMessage, repeated } from './received.ts';
import { type AfterLogout, notifyOthers, type SingleLogoutDeps } from './single-logout.ts';

export interface SloDeps extends Pick<Answering, 'clock' | 'random' | 'samlKeys'> {
  registry: Pick<ClientRegistry, 'bySamlEntityId'>;
  samlLogout: Pick<SamlLogout, 'end' | 'participants' | 'confirm'>;
  refusals: Pick<TokenRefusals, 'record'>;
  cookies: Pick<Cookies, 'session'>;
  /** The id of the live session of this browser in a project. */
  heldSession(req: Request, projectId: string): Promise<string | undefined>;
  singleLogout: SingleLogoutDeps;
  errorPage(req: Request, res: Response, status: number, reason: 'client' | 'parameters'): void | Promise<void>;
}

const maxAgeSeconds = 300;

/**
 * `GET` and `POST {issuer}/saml/slo`: a LogoutRequest of an application (SAML Profiles section 4.4), or its LogoutResponse to a
 * request of ours. Both must be signed.
 */
export function sloEndpoint(deps: SloDeps): RequestHandler {
  return async (req, res) => {
    const name = parametersOf(req).get('SAMLResponse') === undefined ? 'SAMLRequest' : 'SAMLResponse';
    const about: About = { client: null };
    try {
      await (name === 'SAMLRequest' ? endSession(deps, req, res, about) : confirm(deps, req, res, about));
    } catch (error) {
      if (!(error instanceof SamlError)) throw error;
      const { reason, detail } = error;
      const refusal = { type: 'authorization.refused', clientId: about.client?.id, actor: actorOf(req) } as const;
      await deps.refusals.record({ ...refusal, reason, description: detail });
      await deps.errorPage(req, res, 400, error.reason === 'issuer-mismatch' ? 'client' : 'parameters');
    }
  };
}

/** The sender of a message, once it is known. */
interface About {
  client: Client | null;
}

/** The message of an application with single logout, with its signature verified. */
async function authentic(deps: SloDeps, req: Request, name: MessageName, about: About) {
  const issuer = issuerOf(req);
  const received = receivedMessage(req, name);
  const client = await deps.registry.bySamlEntityId(issuer.project?.id ?? '', senderOf(received.message));
  about.client = client;
  if (client?.samlLogoutUri == null) throw new SamlError('issuer-mismatch', 'no application with logout');
  const signed = received.signedBy(client);
  if (!signed) throw new SamlError('unsigned', name);
  const expected = { now: deps.clock.now(), endpoint: `${issuer.url}/saml/slo`, maxAgeSeconds };
  return { client, signed, expected, relayState: received.relayState };
}

async function endSession(deps: SloDeps, req: Request, res: Response, about: About): Promise<void> {
  const { client, signed, expected, relayState } = await authentic(deps, req, 'SAMLRequest', about);
  const request = readLogoutRequest(signed);
  checkFresh(request, expected);
  const { id: projectId } = client.project;
  const needsCookie = request.sessionIndexes.length === 0;
  const parameters = parametersOf(req);
  if (needsCookie && isWithoutCookies(req, parameters)) {
    const fields = { SAMLRequest: parameters.get('SAMLRequest') ?? '', [repeated]: '1' };
    return sendForm(res, expected.endpoint, relayState === undefined ? fields : { ...fields, RelayState: relayState });
  }
  const held = needsCookie ? await deps.heldSession(req, projectId) : undefined;
  const outcome = await deps.samlLogout.end(client, request, held, actorOf(req));
  const answer = { kind: 'answer', clientId: client.id, requestId: request.id, relayState } as const;
  if (outcome === 'refused') return sendResponse(deps, req, res, client, answer, 'requestDenied');
  const participants = await deps.samlLogout.participants(projectId, outcome, client.id);
  const isPartial = participants.some(({ client: one }) => one.samlLogoutUri == null && one.samlLogoutSoapUri == null);
  const after = { ...answer, isPartial };
  if (await notifyOthers(deps.singleLogout, req, res, { projectId, participants, after })) return;
  await answerLogout(deps, req, res, client, after);
}

/** A LogoutResponse, in a frame of the page that waits for it. */
async function confirm(deps: SloDeps, req: Request, res: Response, about: About): Promise<void> {
  const { client, signed, expected } = await authentic(deps, req, 'SAMLResponse', about);
  const response = readLogoutResponse(signed);
  checkFresh(response, expected);
  if (response.inResponseTo === undefined) throw new SamlError('request-mismatch', 'InResponseTo');
  if (response.isSuccess) await deps.samlLogout.confirm(client, response.inResponseTo);
  deps.singleLogout.logoutPages.answered(req, res);
}

/** The LogoutResponse to the application that asked for the logout. */
export function answerLogout(
  deps: Pick<Answering, 'clock' | 'random' | 'samlKeys'>,
  req: Request,
  res: Response,
  client: Client,
  after: AfterLogout & { kind: 'answer' },
): Promise<void> {
  return sendResponse(deps, req, res, client, after, after.isPartial ? 'partialLogout' : undefined);
}

async function sendResponse(
  deps: Pick<Answering, 'clock' | 'random' | 'samlKeys'>,
  req: Request,
  res: Response,
  client: Client,
  { requestId, relayState }: { requestId: string; relayState: string | undefined },
  detail: 'partialLogout' | 'requestDenied' | undefined,
): Promise<void> {
  const target = client.samlLogoutResponseUri ?? client.samlLogoutUri;
  if (target == null) throw new SamlError('issuer-mismatch', 'no application with logout');
  const envelope = {
    ...{ id: samlId(deps.random), issuer: entityIdOf(issuerOf(req)), at: deps.clock.now() },
    ...{ destination: target, inResponseTo: requestId },
  };
  const { xml } = newLogoutResponse(envelope, detail);
  const key = await deps.samlKeys.signing(client.project.id);
  res.redirect(303, await redirectTo(target, { name: 'SAMLResponse', xml, relayState }, key));
}
