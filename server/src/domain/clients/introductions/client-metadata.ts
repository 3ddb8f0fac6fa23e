import { cleanMailName } from '../../kernel/name.ts';
import {
  type GrantType,
  grantTypeNames,
  type IdTokenAlgorithm,
  idTokenAlgorithms,
  type TokenEndpointAuthMethod,
  tokenEndpointAuthMethods,
} from '../../kernel/openid.ts';
import { Refusal } from '../../kernel/problem.ts';
import type { Client } from '../client.entity.ts';
import { parseClientKeys } from '../client-keys.ts';
import { checkLogoutUri } from '../logout-uri.ts';
import { checkRedirectUri, hasAppScheme } from '../redirect-uri.ts';
import { hostsOf } from './admission.ts';
import { hostFault } from './metadata-url.ts';

/** Client metadata that cannot be accepted: an error of RFC 7591 section 3.2.2. The message names the member, not its value. */
export class MetadataError extends Error {
  readonly code: 'invalid_redirect_uri' | 'invalid_client_metadata';

  constructor(code: MetadataError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** The settings of a client that introduces itself. */
type Introduced = Pick<
  Client,
  | 'name'
  | 'redirectUris'
  | 'tokenEndpointAuthMethod'
  | 'jwk'
  | 'jwkSet'
  | 'jwksUri'
  | 'grantTypes'
  | 'idTokenSignedResponseAlg'
  | 'dpopRequired'
  | 'pushedRequestsRequired'
>;

/** `name` is the host that is verified, for a client on the user's own device its claimed name. */
export interface ClientMetadata {
  settings: Introduced;
  /** `client_name`, if pages could show it. */
  claimedName: string | null;
}

/** How the client introduces itself: by the document at a URL, or by a registration. */
interface Reading {
  metadataUrl: string | null;
  allowPrivate: boolean;
}

const maxRedirectUris = 20;
/** Of an ID token: the default of OpenID Connect Dynamic Client Registration section 2. */
const defaultAlgorithm = 'RS256';
/** Grant types that such clients can have: each needs a user. */
const grants: readonly GrantType[] = ['authorization_code', 'refresh_token'];

/**
 * The settings of client metadata (RFC 7591 section 2; draft-ietf-oauth-client-id-metadata-document section 4.1). Members that this
 * server does not use are ignored. Throws {@link MetadataError}.
 */
export function readMetadata(json: unknown, reading: Reading): ClientMetadata {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) fault('the metadata must be a JSON object');
  const metadata = json as Record<string, unknown>;
  if (reading.metadataUrl !== null) checkDocument(metadata, reading.metadataUrl);
  const method = methodOf(metadata, reading);
  const redirectUris = redirectUrisOf(metadata, reading, method);
  const claimedName = claimedNameOf(metadata['client_name']);
  const [ownHost] = hostsOf(redirectUris);
  const host = reading.metadataUrl === null ? ownHost : new URL(reading.metadataUrl).host;
  const reason = host === undefined ? null : hostFault(host);
  if (reason !== null) invalidUri(reason);
  return {
    claimedName,
    settings: {
      name: host ?? claimedName ?? 'localhost',
      redirectUris,
      tokenEndpointAuthMethod: method,
      ...keysOf(metadata, method, reading),
      grantTypes: grantTypesOf(metadata),
      idTokenSignedResponseAlg: algorithmOf(metadata['id_token_signed_response_alg']),
      dpopRequired: flagOf(metadata, 'dpop_bound_access_tokens'),
      pushedRequestsRequired: flagOf(metadata, 'require_pushed_authorization_requests'),
    },
  };
}

/** Section 4.1 of the draft. */
function checkDocument(metadata: Record<string, unknown>, url: string): void {
  if (metadata['client_id'] !== url) fault('client_id must be the URL of the document');
  for (const name of ['client_secret', 'client_secret_expires_at']) {
    if (name in metadata) fault(`${name} must not be in a metadata document`);
  }
}

function methodOf(metadata: Record<string, unknown>, { metadataUrl }: Reading): TokenEndpointAuthMethod {
  const given = metadata['token_endpoint_auth_method'];
  // RFC 7591 section 2 for a registration; a document has no secret.
  if (given === undefined) return metadataUrl === null ? 'client_secret_basic' : 'none';
  const method = tokenEndpointAuthMethods.find((one) => one === given);
  const offered = metadataUrl === null ? tokenEndpointAuthMethods : (['none', 'private_key_jwt'] as const);
  if (method === undefined || !offered.some((one) => one === method)) {
    return fault(`token_endpoint_auth_method must be ${offered.join(', ')}`);
  }
  return method;
}

function redirectUrisOf(metadata: Record<string, unknown>, { metadataUrl }: Reading, method: string): string[] {
  const uris = metadata['redirect_uris'];
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > maxRedirectUris) {
    return invalidUri(`redirect_uris must contain 1 to ${maxRedirectUris} URIs`);
  }
  const checked = uris.map((uri: unknown, at) => {
    if (typeof uri !== 'string') return invalidUri(`redirect_uris[${at}] must be text`);
    const apps = metadataUrl === null && method === 'none' ? 'with apps' : 'without apps';
    const reason = checkRedirectUri(uri, apps);
    if (reason !== null) return invalidUri(`redirect_uris[${at}] ${reason}`);
    const isElsewhere = !hasAppScheme(uri) && uri.startsWith('https:') && metadataUrl !== null;
    // Section 6.1 of the draft: the host on the consent page is that of the redirect.
    if (isElsewhere && new URL(uri).origin !== new URL(metadataUrl).origin) {
      return invalidUri(`redirect_uris[${at}] must have the origin of client_id, or be a loopback address`);
    }
    return uri;
  });
  if (hostsOf(checked).length > 1) return invalidUri('redirect_uris must have one https host');
  return [...new Set(checked)];
}

function keysOf(
  { jwks, jwks_uri: jwksUri }: Record<string, unknown>,
  method: TokenEndpointAuthMethod,
  { allowPrivate }: Reading,
): Pick<Introduced, 'jwk' | 'jwkSet' | 'jwksUri'> {
  const none = { jwk: null, jwkSet: null, jwksUri: null };
  if (jwks !== undefined && jwksUri !== undefined) fault('jwks and jwks_uri cannot be combined');
  if (method !== 'private_key_jwt') return none;
  if (jwksUri !== undefined) {
    if (typeof jwksUri !== 'string') return fault('jwks_uri must be text');
    const reason = checkLogoutUri(jwksUri, allowPrivate);
    return reason === null ? { ...none, jwksUri } : fault(`jwks_uri ${reason}`);
  }
  if (jwks === undefined) return fault('jwks or jwks_uri is required for private_key_jwt');
  try {
    return { ...none, jwkSet: parseClientKeys(jwks) };
  } catch (error) {
    if (error instanceof Refusal && error.problem.code === 'invalid') return fault(`jwks ${error.problem.reason}`);
    throw error;
  }
}

function grantTypesOf({ grant_types: given, response_types: responses }: Record<string, unknown>): GrantType[] {
  if (responses !== undefined && !(Array.isArray(responses) && responses.includes('code'))) {
    fault('response_types must contain code');
  }
  if (given === undefined) return ['authorization_code'];
  if (!Array.isArray(given) || !given.includes('authorization_code')) {
    return fault('grant_types must contain authorization_code');
  }
  return grants.filter((one) => given.includes(grantTypeNames[one]));
}

function algorithmOf(given: unknown): IdTokenAlgorithm {
  if (given === undefined) return defaultAlgorithm;
  const found = idTokenAlgorithms.find((one) => one === given);
  return found ?? fault(`id_token_signed_response_alg must be ${idTokenAlgorithms.join(', ')}`);
}

function flagOf(metadata: Record<string, unknown>, name: string): boolean {
  const given = metadata[name] ?? false;
  return typeof given === 'boolean' ? given : fault(`${name} must be true or false`);
}

/** Null: pages could not show it. */
function claimedNameOf(given: unknown): string | null {
  if (typeof given !== 'string') return null;
  try {
    return cleanMailName(given, 'client_name');
  } catch {
    return null;
  }
}

function fault(reason: string): never {
  throw new MetadataError('invalid_client_metadata', reason);
}

function invalidUri(reason: string): never {
  throw new MetadataError('invalid_redirect_uri', reason);
}
