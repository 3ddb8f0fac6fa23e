import type { Request, RequestHandler, Response } from 'express';
import type { AccessRefusals } from '../domain/access/access-refusals.ts';
import type { MemberChoice } from '../domain/access/member-choices.ts';
import type { Authorization, FlowBrowser } from '../domain/ceremonies/requests/authorization.ts';
import type { AuthorizationRequest } from '../domain/ceremonies/requests/authorization-request.entity.ts';
import type { Authorizations } from '../domain/ceremonies/requests/authorizations.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import type { ClientRegistry } from '../domain/clients/client-registry.ts';
import type { AcrRequest } from '../domain/policy/acr.ts';
import type { Issuer } from '../domain/projects/issuer.ts';
import { type AuthnRequest, checkFresh, readAuthnRequest } from '../domain/saml/messages/authn-request.ts';
import { SamlError, type SamlReason } from '../domain/saml/saml-error.ts';
import type { SamlAsked } from '../domain/tokens/saml/saml-answers.ts';
import { samlScope } from '../domain/tokens/saml/saml-name-ids.ts';
import type { TokenRefusals } from '../domain/tokens/token-refusals.ts';
import type { User } from '../domain/users/user.entity.ts';
import { actorOf, requestContext } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import { sendForm } from '../http/form-post.ts';
import { issuerOf } from '../http/issuer.ts';
import { parametersOf } from '../http/parameters.ts';
import { type Answering, sendAnswer, sendError } from './answering.ts';
import { acrOf, isRefusal, nameIdOf, packed, type StatusRefusal, unpacked } from './asked.ts';
import { isWithoutCookies, receivedMessage, repeated } from './received.ts';

type PageReason = 'client' | 'redirect-uri' | 'parameters' | 'flow-expired';

export interface SsoDeps extends Answering {
  authorizations: Pick<Authorizations, 'fromSession' | 'begin' | 'complete'>;
  registry: Pick<ClientRegistry, 'bySamlEntityId' | 'current'>;
  cookies: Pick<Cookies, 'session' | 'flow' | 'setFlow' | 'clearFlow'>;
  refusals: Pick<TokenRefusals, 'record'>;
  accessRefusals: Pick<AccessRefusals, 'record'>;
  /** Of the forms that consent and the choice of an organization share. */
  csrf: { make(boundTo: string): string };
  choicePage(req: Request, res: Response, shown: ShownChoice): Promise<void>;
  errorPage(
    req: Request,
    res: Response,
    status: number,
    reason: PageReason,
    client?: Client | null,
  ): void | Promise<void>;
  noAccessPage(
    req: Request,
    res: Response,
    shown: { request: AuthorizationRequest; user: Pick<User, 'email' | 'userName'>; flow: string; back?: string },
  ): Promise<void>;
}

/** The page on which a user chooses an organization. Its form leads to `/authorize/resume`, and so back to {@link resumeEndpoint}. */
interface ShownChoice {
  request: AuthorizationRequest;
  choices: readonly MemberChoice[];
  user: Pick<User, 'email' | 'userName'>;
  action: string;
  fields: { flow: string; csrf: string };
}

/** Time between the issue of a request and its arrival, by a browser. */
const maxAgeSeconds = 300;

/** A sign-in that an application, or a link of ours, asks for. Its ACS URL is registered. */
interface SignInRequest {
  client: Client;
  acsUrl: string;
  asked: SamlAsked;
  relayState: string | undefined;
  acr: AcrRequest | undefined;
  forceAuthn: boolean;
  isPassive: boolean;
}

/** Refused before the ACS URL is vetted: a page, and no redirect. */
class PageRefusal extends Error {
  constructor(
    readonly reason: PageReason,
    readonly client: Client | null,
    readonly detail: string,
  ) {
    super(reason);
  }
}

/** `GET` and `POST {issuer}/saml/sso`: an AuthnRequest (SAML Profiles section 4.1). */
export function ssoEndpoint(deps: SsoDeps): RequestHandler {
  return async (req, res) => {
    const parameters = parametersOf(req);
    if (isWithoutCookies(req, parameters)) {
      const [message = '', relayState] = [parameters.get('SAMLRequest'), parameters.get('RelayState')];
      const fields = {
        SAMLRequest: message,
        ...(relayState !== undefined && { RelayState: relayState }),
        [repeated]: '1',
      };
      return sendForm(res, `${issuerOf(req).url}/saml/sso`, fields);
    }
    await answered(deps, req, res, () => requested(deps, req));
  };
}

/** `GET {issuer}/saml/start/{client}`: a sign-in that begins here, where the application allows it. */
export function startEndpoint(deps: SsoDeps): RequestHandler {
  return async (req, res) => {
    await answered(deps, req, res, async () => {
      const issuer = issuerOf(req);
      const client = await deps.registry.current.byId(String(req.params['client']));
      const isOurs = client !== null && client.samlEntityId != null && client.project.id === issuer.project?.id;
      if (!isOurs || !client.samlIdpInitiated) throw new PageRefusal('client', null, 'no IdP-initiated sign-in');
      const asked = { nameId: client.samlNameId };
      const common = { relayState: undefined, acr: undefined, forceAuthn: false, isPassive: false };
      return { client, acsUrl: acsOf(client, {}), asked, ...common };
    });
  };
}

async function answered(
  deps: SsoDeps,
  req: Request,
  res: Response,
  read: () => Promise<SignInRequest | StatusRefusal>,
) {
  try {
    const request = await read();
    if (isRefusal(request)) return await refuse(deps, req, res, request);
    await signIn(deps, req, res, request);
  } catch (error) {
    if (!(error instanceof PageRefusal || error instanceof SamlError)) throw error;
    const [reason, client] =
      error instanceof PageRefusal ? [error.reason, error.client] : (['parameters', null] as const);
    await note(deps, req, client, error instanceof SamlError ? error.reason : reason, error.detail);
    await deps.errorPage(req, res, 400, reason, client);
  }
}

/** The validated request, or a refusal for the ACS URL. Throws what is shown as a page. */
async function requested(deps: SsoDeps, req: Request): Promise<SignInRequest | StatusRefusal> {
  const issuer = issuerOf(req);
  const received = receivedMessage(req, 'SAMLRequest');
  const claimed = readAuthnRequest(received.message);
  const client = await deps.registry.bySamlEntityId(issuer.project?.id ?? '', claimed.issuer);
  if (!client) throw new PageRefusal('client', null, 'unknown entity ID');
  const request = authenticated(client, claimed, received);
  const acsUrl = acsOf(client, request);
  const asked = { id: request.id, nameId: client.samlNameId };
  const to = { client, acsUrl, asked, relayState: received.relayState };
  const faulty = (code: 'requester' | 'responder', detail: StatusRefusal['refused']['detail'], message: string) => ({
    ...to,
    refused: { code, detail, message },
  });
  try {
    checkFresh(request, { now: deps.clock.now(), endpoint: `${issuer.url}/saml/sso`, maxAgeSeconds });
  } catch (error) {
    if (!(error instanceof SamlError)) throw error;
    if (error.reason === 'destination-mismatch') throw new PageRefusal('parameters', client, error.message);
    return faulty('requester', 'requestDenied', timeFaults[error.reason] ?? error.detail);
  }
  const nameId = nameIdOf(request.nameIdFormat, client);
  if (nameId === null) return faulty('requester', 'invalidNameIdPolicy', 'This NameID format is not supported.');
  const context = acrOf(request);
  if (context === null)
    return faulty('requester', 'noAuthnContext', 'No requested authentication context is supported.');
  const { forceAuthn, isPassive } = request;
  return {
    ...to,
    asked: { ...asked, nameId, contextClass: context.ordinary },
    acr: context.acr,
    forceAuthn,
    isPassive,
  };
}

const timeFaults: Partial<Record<SamlReason, string>> = {
  expired: 'The request is too old: check the clock.',
  'not-yet-valid': 'The request is from the future: check the clock.',
};

/** The signed request, or an unsigned one where that is allowed. */
function authenticated(
  client: Client,
  claimed: AuthnRequest,
  received: ReturnType<typeof receivedMessage>,
): AuthnRequest {
  if (client.samlCertificates.length === 0) return claimed;
  try {
    const signed = received.signedBy(client);
    if (signed) return readAuthnRequest(signed);
  } catch (error) {
    throw error instanceof SamlError ? new PageRefusal('parameters', client, error.message) : error;
  }
  if (client.samlRequestsSigned) throw new PageRefusal('parameters', client, 'unsigned');
  return claimed;
}

/** Exact, and from the registered list alone (SAML Profiles section 4.1.4.1). */
function acsOf(client: Client, { acsUrl, acsIndex = 0 }: Partial<Pick<AuthnRequest, 'acsUrl' | 'acsIndex'>>): string {
  const { redirectUris } = client;
  const chosen = acsUrl === undefined ? (redirectUris[acsIndex] ?? redirectUris[0]) : acsUrl;
  if (chosen !== undefined && redirectUris.includes(chosen)) return chosen;
  throw new PageRefusal('redirect-uri', client, 'AssertionConsumerServiceURL is not registered');
}

async function signIn(deps: SsoDeps, req: Request, res: Response, request: SignInRequest): Promise<void> {
  const { authorizations, cookies } = deps;
  const issuer = issuerOf(req);
  const { client, acsUrl, asked, relayState, forceAuthn, isPassive } = request;
  const authorization = authorizationOf(request, issuer);
  const denied = (detail: 'noPassive' | 'requestDenied', message: string): StatusRefusal => ({
    ...{ client, acsUrl, asked, relayState },
    refused: { code: 'responder', detail, message },
  });
  let sessionId: string | undefined;
  if (!forceAuthn) {
    const found = await authorizations.fromSession(authorization, cookies.session(req, client.project.id), undefined);
    if (typeof found === 'object' && 'code' in found) {
      return sendAnswer(deps, req, res, { client, acsUrl, asked, relayState, code: found.code });
    }
    if (typeof found === 'object' && 'noAccessUnder' in found) {
      if (isPassive) {
        await deps.accessRefusals.record(client, { id: found.userId }, actorOf(req));
        return refuse(deps, req, res, denied('requestDenied', 'The user has no access to this application.'));
      }
      sessionId = found.noAccessUnder;
    }
    if (typeof found === 'object' && 'choiceUnder' in found) {
      if (isPassive) return refuse(deps, req, res, denied('noPassive', 'The user must choose an organization.'));
      sessionId = found.choiceUnder;
    }
  }
  if (isPassive) return refuse(deps, req, res, denied('noPassive', 'The user must sign in.'));
  const how = { hintedUserId: undefined, personRequired: forceAuthn, sessionId, isPushed: true };
  const begun = await authorizations.begin(authorization, how, requestContext(req).ip);
  cookies.setFlow(res, begun.flow, begun.browserSecret);
  res.redirect(303, sessionId === undefined ? signInPage(begun.flow) : resumePath(req, begun.flow));
}

/** A SAML request is an authorization request whose response is an assertion: the rest of the sign-in is the same. */
function authorizationOf(request: SignInRequest, issuer: Issuer): Authorization {
  const { client, acsUrl, asked, relayState } = request;
  return {
    ...{
      client,
      issuer,
      redirectUri: acsUrl,
      state: relayState,
      resources: [],
      scope: samlScope,
      nonce: packed(asked),
    },
    ...{ codeChallenge: undefined, dpopJkt: undefined, responseMode: 'query', maxAgeSeconds: undefined },
    ...{ loginHint: undefined, uiLocales: undefined, asksConsent: false },
    organizationId: client.project.getEntity().organizationsEnabled ? null : undefined,
    acr: request.acr,
  };
}

/** `GET {issuer}/saml/resume?flow=…`: after the sign-in. */
export function resumeEndpoint(deps: SsoDeps): RequestHandler {
  return async (req, res) => {
    const parameters = parametersOf(req);
    const flow = parameters.get('flow') ?? '';
    const leaves = parameters.get('leave') !== undefined;
    const done = await deps.authorizations.complete(issuerOf(req), browserOf(deps, req, flow), leaves, 'saml');
    const asked = done && unpacked(done.request.nonce);
    if (!done || !asked) return deps.errorPage(req, res, 400, 'flow-expired');
    const { request, outcome } = done;
    const client = request.client.getEntity();
    if (outcome === 'sign-in-first') return res.redirect(303, signInPage(flow));
    if (typeof outcome === 'object' && 'withoutAccess' in outcome) {
      await deps.accessRefusals.record(client, outcome.withoutAccess, actorOf(req));
      const back = `${resumePath(req, flow)}&leave=1`;
      return deps.noAccessPage(req, res, { request, user: outcome.withoutAccess, flow, back });
    }
    if (typeof outcome === 'object' && 'choices' in outcome) {
      const { boundTo, choices, user } = outcome;
      const fields = { flow, csrf: deps.csrf.make(boundTo) };
      return deps.choicePage(req, res, {
        request,
        choices,
        user,
        action: `${req.baseUrl}/authorize/organization`,
        fields,
      });
    }
    deps.cookies.clearFlow(res, flow);
    const to = { client, acsUrl: request.redirectUri, asked, relayState: request.state ?? undefined };
    if (typeof outcome === 'object' && 'code' in outcome)
      return sendAnswer(deps, req, res, { ...to, code: outcome.code });
    const refused = outcome === 'acr-unmet' ? unmet : noAccess;
    await refuse(deps, req, res, { ...to, refused });
  };
}

const unmet = {
  code: 'responder',
  detail: 'noAuthnContext',
  message: 'The user has not signed in with the requested authentication context.',
} as const;
const noAccess = {
  code: 'responder',
  detail: 'requestDenied',
  message: 'The user has no access to this application.',
} as const;

async function refuse(deps: SsoDeps, req: Request, res: Response, refusal: StatusRefusal): Promise<void> {
  if (refusal.refused.detail !== 'noPassive') {
    await note(deps, req, refusal.client, refusal.refused.detail, refusal.refused.message);
  }
  await sendError(deps, req, res, refusal);
}

function note({ refusals }: SsoDeps, req: Request, client: Client | null, reason: string, description: string) {
  return refusals.record({
    type: 'authorization.refused',
    clientId: client?.id,
    actor: actorOf(req),
    reason,
    description,
  });
}

function browserOf({ cookies }: Pick<SsoDeps, 'cookies'>, req: Request, flow: string): FlowBrowser {
  return {
    flow,
    browserSecret: cookies.flow(req, flow),
    sessionSecretOf: (projectId) => cookies.session(req, projectId),
  };
}

function signInPage(flow: string): string {
  return `/signin?${new URLSearchParams({ flow })}`;
}

function resumePath(req: Request, flow: string): string {
  return `${req.baseUrl}/saml/resume?${new URLSearchParams({ flow })}`;
}
