import express, { type Request, type RequestHandler, type Response } from 'express';
import { MetadataError } from '../../domain/clients/introductions/client-metadata.ts';
import type { ClientRegistrations, Registration } from '../../domain/clients/introductions/client-registrations.ts';
import { seconds } from '../../domain/kernel/clock.ts';
import { grantTypeNames } from '../../domain/kernel/openid.ts';
import { Refusal } from '../../domain/kernel/problem.ts';
import { openProject } from '../../domain/kernel/scope.ts';
import type { Issuer } from '../../domain/projects/issuer.ts';
import { type Body, bounded } from '../../http/bodies.ts';
import { actorOf } from '../../http/context.ts';
import { issuerOf } from '../../http/issuer.ts';
import { OAuthError, toOAuthError } from '../oauth-error.ts';

export interface RegistrationDeps {
  registrations: ClientRegistrations;
}

export const registrationPath = '/oauth2/register';
const maxBytes = 16 * 1024;

/** Client metadata in JSON. */
export const metadataBody: Body = {
  maxBytes,
  read: bounded(express.text({ type: ['application/json', 'application/*+json'], limit: maxBytes }), maxBytes),
};

/** `POST {issuer}/oauth2/register` (RFC 7591 section 3). */
export function registerEndpoint({ registrations }: RegistrationDeps): RequestHandler {
  return async (req, res) => {
    const { issuer, projectId } = opened(req);
    const made = await registrations
      .register(projectId, metadataOf(req), bearerOf(req), actorOf(req))
      .catch((thrown: unknown) => failed(res, thrown));
    res.status(201).json(informationOf(made, issuer, made.managementToken ?? ''));
  };
}

/** `GET` (RFC 7592 section 2.1). */
export function registrationEndpoint({ registrations }: RegistrationDeps): RequestHandler {
  return async (req, res) => {
    const { issuer, projectId } = opened(req);
    const found = await registrations.find(projectId, clientIdOf(req), bearerOf(req));
    if (!found) return invalidToken(res);
    res.json(informationOf(found, issuer, bearerOf(req) ?? ''));
  };
}

/** Members of the response that an update must not have (RFC 7592 section 2.2). */
const ofServer = [
  ...['registration_access_token', 'registration_client_uri', 'client_secret_expires_at', 'client_id_issued_at'],
];

/** `PUT` (RFC 7592 section 2.2). */
export function updateEndpoint({ registrations }: RegistrationDeps): RequestHandler {
  return async (req, res) => {
    const { issuer, projectId } = opened(req);
    const token = bearerOf(req);
    if (!(await registrations.find(projectId, clientIdOf(req), token))) return invalidToken(res);
    const metadata = metadataOf(req);
    const wrong = ofServer.find((name) => name in metadata);
    if (wrong !== undefined) throw new OAuthError('invalid_request', `${wrong} must not be in an update.`);
    if (metadata['client_id'] !== clientIdOf(req)) {
      throw new OAuthError('invalid_request', 'client_id must be that of the registration.');
    }
    const request = { token, metadata, actor: actorOf(req) };
    const changed = await registrations
      .update(projectId, clientIdOf(req), request)
      .catch((thrown: unknown) => failed(res, thrown));
    if (!changed) return invalidToken(res);
    res.json(informationOf(changed, issuer, token ?? ''));
  };
}

/** `DELETE` (RFC 7592 section 2.3). */
export function unregisterEndpoint({ registrations }: RegistrationDeps): RequestHandler {
  return async (req, res) => {
    const { projectId } = opened(req);
    if (!(await registrations.remove(projectId, clientIdOf(req), bearerOf(req), actorOf(req)))) {
      return invalidToken(res);
    }
    res.status(204).end();
  };
}

/** The project of the issuer, whose rows the statements of this request see. */
function opened(req: Request): { issuer: Issuer; projectId: string } {
  const issuer = issuerOf(req);
  if (issuer.project === null) throw new OAuthError('invalid_request', 'This issuer accepts no registrations.');
  openProject(issuer.project.id);
  return { issuer, projectId: issuer.project.id };
}

const clientIdOf = (req: Request) => String(req.params['clientId']);

/** The token of the request: initial access token, or registration access token. */
function bearerOf(req: Request): string | undefined {
  return /^bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(req.get('authorization') ?? '')?.[1];
}

function metadataOf(req: Request): Record<string, unknown> {
  const text: unknown = req.body;
  if (typeof text !== 'string') throw new OAuthError('invalid_request', 'The body must be application/json.');
  try {
    const metadata: unknown = JSON.parse(text);
    if (typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata)) return { ...metadata };
  } catch {
    // Named below.
  }
  throw new OAuthError('invalid_client_metadata', 'The body must be a JSON object.');
}

function invalidToken(res: Response): never {
  res.setHeader('WWW-Authenticate', 'Bearer realm="Latchkey", error="invalid_token"');
  throw new OAuthError('invalid_token', 'The token is unknown, expired or revoked.', { httpStatus: 401 });
}

/** RFC 7591 section 3.2.2, and RFC 6750 for the initial access token. */
function failed(res: Response, thrown: unknown): never {
  if (thrown instanceof MetadataError) throw new OAuthError(thrown.code, `${thrown.message}.`);
  if (!(thrown instanceof Refusal)) throw thrown;
  if (thrown.problem.code === 'unauthenticated') return invalidToken(res);
  if (thrown.problem.code === 'not-found') {
    throw new OAuthError('access_denied', 'The project accepts no registrations.', { httpStatus: 403 });
  }
  if (thrown.problem.code !== 'too-many') throw thrown;
  const { error, description, retryAfterSeconds } = toOAuthError(thrown);
  throw new OAuthError(error, description, { httpStatus: 429, retryAfterSeconds });
}

/** The client information response (RFC 7591 section 3.2.1, RFC 7592 section 3). */
function informationOf({ client, claimedName, clientSecret }: Registration, issuer: Issuer, token: string) {
  const { jwkSet, jwksUri } = client;
  return {
    client_id: client.id,
    client_id_issued_at: seconds(client.createdAt),
    ...(clientSecret !== null && { client_secret: clientSecret, client_secret_expires_at: 0 }),
    registration_access_token: token,
    registration_client_uri: `${issuer.url}${registrationPath}/${client.id}`,
    ...(claimedName !== null && { client_name: claimedName }),
    redirect_uris: client.redirectUris,
    token_endpoint_auth_method: client.tokenEndpointAuthMethod,
    grant_types: client.grantTypes.map((one) => grantTypeNames[one]),
    response_types: ['code'],
    id_token_signed_response_alg: client.idTokenSignedResponseAlg,
    dpop_bound_access_tokens: client.dpopRequired,
    require_pushed_authorization_requests: client.pushedRequestsRequired,
    ...(jwkSet == null ? {} : { jwks: { keys: jwkSet } }),
    ...(jwksUri == null ? {} : { jwks_uri: jwksUri }),
  };
}
