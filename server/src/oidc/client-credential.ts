import type { Request } from 'express';
import { refuse } from '../domain/kernel/problem.ts';
import type { Issuer } from '../domain/projects/issuer.ts';
import { type Parameters, parametersOf } from '../http/parameters.ts';
import { OAuthError } from './oauth-error.ts';
import { parameterFault } from './parameter-fault.ts';

export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Client credential of a request. */
export type ClientCredential =
  | { by: 'none'; clientId: string }
  | { by: 'secret'; clientId: string | undefined; secret: string }
  /** `claimed`: `iss`, not verified. */
  | { by: 'assertion'; clientId: string | undefined; claimed: string | undefined; assertion: string }
  | { by: 'api-key'; clientId: string | undefined; apiKey: string };

/**
 * The form of a client's request. Throws `invalid_request`.
 *
 * @param issuer set: the request may name several APIs
 */
export function formOf(req: Request, issuer?: Issuer): Parameters {
  const parameters = parametersOf(req);
  if (parameters.wrongContentType) {
    throw new OAuthError('invalid_request', 'The body must be application/x-www-form-urlencoded.');
  }
  const fault = parameterFault(parameters, issuer);
  if (fault) throw fault;
  return parameters;
}

/**
 * The credential of a request to the token endpoint (RFC 6749 §2.3, RFC 7523 §2.2): a secret key in `X-Api-Key`, a client
 * secret (HTTP Basic or `client_secret`), a client assertion, or, for a public client, its id alone, also as Basic with an
 * empty password. One at a time. Refuses `client-rejected`.
 */
export function credentialOf(req: Request, parameters: Parameters): ClientCredential {
  const apiKey = req.get('x-api-key');
  const assertion = parameters.get('client_assertion');
  const type = parameters.get('client_assertion_type');
  const basic = basicOf(req);
  const clientId = parameters.get('client_id') ?? basic?.clientId;
  const hasAssertion = assertion !== undefined || type !== undefined;
  if (basic !== undefined && basic.clientId !== clientId) {
    reject('client_id is not the user name of HTTP Basic', 'client_id and the user name of HTTP Basic differ.');
  }
  const secrets = [basic?.secret, parameters.get('client_secret')].filter((secret) => secret !== undefined);
  const ways = secrets.length + (apiKey === undefined ? 0 : 1) + (hasAssertion ? 1 : 0);
  if (ways > 1) throw new OAuthError('invalid_request', 'Use only one client authentication method.');
  if (secrets[0] !== undefined) return { by: 'secret', clientId, secret: secrets[0] };
  if (apiKey !== undefined) return { by: 'api-key', clientId, apiKey };
  if (!hasAssertion) {
    if (clientId === undefined) throw new OAuthError('invalid_request', 'client_id is missing.');
    return { by: 'none', clientId };
  }
  if (assertion === undefined) throw new OAuthError('invalid_request', 'client_assertion is missing.');
  if (type !== assertionType) {
    throw new OAuthError('invalid_request', `client_assertion_type must be ${assertionType}.`);
  }
  const claimed = claimedIssuer(assertion);
  return { by: 'assertion', clientId: clientId ?? claimed, claimed, assertion };
}

/** User name and password of HTTP Basic, both form-encoded (RFC 6749 §2.3.1); an empty password counts as absent. */
function basicOf(req: Request): { clientId: string; secret: string | undefined } | undefined {
  const header = req.get('authorization');
  if (header === undefined) return undefined;
  const credentials = /^basic +([A-Za-z0-9+/_=-]+) *$/i.exec(header)?.[1];
  const [, clientId, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(credentials ?? '', 'base64').toString()) ?? [];
  if (!clientId) return reject('the Authorization header is not HTTP Basic', 'Authorization must be HTTP Basic.');
  return { clientId: formDecoded(clientId), secret: secret === '' ? undefined : formDecoded(secret ?? '') };
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** The client id of a request, not authenticated. */
export function namedClient(req: Request, parameters: Parameters): string | undefined {
  const named = parameters.get('client_id') ?? claimedIssuer(parameters.get('client_assertion') ?? '');
  if (named !== undefined) return named;
  try {
    return basicOf(req)?.clientId;
  } catch {
    return undefined;
  }
}

/** The unverified `iss`, only for selecting the key. */
function claimedIssuer(assertion: string): string | undefined {
  try {
    const payload: unknown = JSON.parse(Buffer.from(assertion.split('.')[1] ?? '', 'base64url').toString());
    const issuer = (payload as { iss?: unknown } | null)?.iss;
    return typeof issuer === 'string' ? issuer : undefined;
  } catch {
    return undefined;
  }
}

/** @param detail for the caller */
export function reject(reason: string, detail: string): never {
  return refuse({ code: 'client-rejected', reason, detail });
}
