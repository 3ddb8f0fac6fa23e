import { type AdminScope, adminScopes } from '../kernel/admin-api.ts';
import { cleanMailName } from '../kernel/name.ts';
import {
  type GrantType,
  grantTypes,
  type IdTokenAlgorithm,
  idTokenAlgorithms,
  type TokenEndpointAuthMethod,
  tokenEndpointAuthMethods,
} from '../kernel/openid.ts';
import { refuse } from '../kernel/problem.ts';
import { checkSeconds, sessionPolicyBounds } from '../projects/session-policy.ts';
import { type Client, type ClientKind, clientKinds, logoutTokenTypes } from './client.entity.ts';
import { parseClientKeys } from './client-keys.ts';
import { checkLogoutUri } from './logout-uri.ts';
import { checkRedirectUri } from './redirect-uri.ts';

/** An OIDC client's configuration (service.md 2.5). */
export interface ClientSettings {
  name: string;
  kind: ClientKind;
  tokenEndpointAuthMethod: TokenEndpointAuthMethod;
  /** A JWK, a JWK Set, or either as JSON text; null: none. See {@link parseClientKeys}. */
  jwks: unknown;
  /** Where the keys are fetched instead; null: nowhere. */
  jwksUri: string | null;
  idTokenSignedResponseAlg: IdTokenAlgorithm;
  redirectUris: string[];
  postLogoutRedirectUris: string[];
  backchannelLogoutUri: string | null;
  backchannelLogoutSessionRequired: boolean;
  logoutTokenType: (typeof logoutTokenTypes)[number];
  /** 1…3600; null: the project's. */
  accessTokenTtlSeconds: number | null;
  /** See `SessionPolicy`; null: the project's. The shorter of both counts. */
  refreshTokenTtlSeconds: number | null;
  refreshTokenIdleSeconds: number | null;
  /** `authorization_code` may be omitted: every client has it. */
  grantTypes: GrantType[];
  /** Its scopes at the admin API, in its project. */
  adminScopes: AdminScope[];
  /** Whether a sign-in by the browser SDK needs a code_challenge (RFC 7636). */
  pkceRequired: boolean;
  /** Whether a confidential client may omit PKCE at its project's issuer. */
  pkceOptional: boolean;
  /** Whether pages of its redirect URIs' origins can use passkeys (WebAuthn Level 3 section 5.11). */
  relatedOrigins: boolean;
  /** Whether its users must sign in with a passkey, regardless of the project's policy. */
  passkeyRequired: boolean;
  /** Whether each token request needs a DPoP proof (RFC 9449 section 5.2). */
  dpopRequired: boolean;
  /** Whether its DPoP proofs need a nonce of this server (RFC 9449 section 8). */
  dpopNonceRequired: boolean;
  /** Whether it must push its authorization requests (RFC 9126 section 6). */
  pushedRequestsRequired: boolean;
  /** Whether it must comply with the FAPI 2.0 Security Profile. */
  fapiProfile: boolean;
  /** Whether users must consent before it gets their data. Not for the applications of this server. */
  thirdParty: boolean;
  disabled: boolean;
}

const maxUris = 100;
const switches = [
  ...(['backchannelLogoutSessionRequired', 'pkceRequired', 'pkceOptional', 'relatedOrigins'] as const),
  ...([
    'passkeyRequired',
    'thirdParty',
    'dpopRequired',
    'dpopNonceRequired',
    'pushedRequestsRequired',
    'fapiProfile',
  ] as const),
] as const;

const lifetimes = ['accessTokenTtlSeconds', 'refreshTokenTtlSeconds', 'refreshTokenIdleSeconds'] as const;

/** Copies known settings only, so that no other input reaches the row. */
export function checkedSettings(
  input: Partial<ClientSettings>,
  { now, allowPrivateLogoutTargets }: { now: Date; allowPrivateLogoutTargets: boolean },
): Partial<Client> {
  const settings: Partial<Client> = {};
  if (input.name !== undefined) settings.name = cleanMailName(input.name);
  if (input.kind !== undefined) settings.kind = oneOf('kind', input.kind, clientKinds);
  if (input.tokenEndpointAuthMethod !== undefined) {
    settings.tokenEndpointAuthMethod = oneOf(
      'tokenEndpointAuthMethod',
      input.tokenEndpointAuthMethod,
      tokenEndpointAuthMethods,
    );
  }
  if (input.jwks !== undefined) Object.assign(settings, keysOf(input.jwks));
  if (input.jwksUri !== undefined) {
    settings.jwksUri = fetchedUri('jwksUri', input.jwksUri, allowPrivateLogoutTargets);
  }
  if (input.idTokenSignedResponseAlg !== undefined) {
    settings.idTokenSignedResponseAlg = oneOf(
      'idTokenSignedResponseAlg',
      input.idTokenSignedResponseAlg,
      idTokenAlgorithms,
    );
  }
  if (input.redirectUris !== undefined) settings.redirectUris = uris('redirectUris', input.redirectUris);
  if (input.postLogoutRedirectUris !== undefined) {
    settings.postLogoutRedirectUris = uris('postLogoutRedirectUris', input.postLogoutRedirectUris);
  }
  if (input.backchannelLogoutUri !== undefined) {
    settings.backchannelLogoutUri = fetchedUri(
      'backchannelLogoutUri',
      input.backchannelLogoutUri,
      allowPrivateLogoutTargets,
    );
  }
  if (input.grantTypes !== undefined) settings.grantTypes = checkedGrants(input.grantTypes);
  if (input.adminScopes !== undefined) settings.adminScopes = checkedAdminScopes(input.adminScopes);
  for (const name of switches) {
    const value = input[name];
    if (value === undefined) continue;
    if (typeof value !== 'boolean') refuse({ code: 'invalid', field: name, reason: 'must be true or false' });
    settings[name] = value;
  }
  if (input.logoutTokenType !== undefined) {
    settings.logoutTokenType = oneOf('logoutTokenTyp', input.logoutTokenType, logoutTokenTypes);
  }
  for (const name of lifetimes) {
    const value = input[name];
    if (value === undefined) continue;
    if (value !== null) checkSeconds(name, value, sessionPolicyBounds[name]);
    settings[name] = value;
  }
  if (input.disabled !== undefined) settings.disabledAt = input.disabled ? now : null;
  return settings;
}

function checkedGrants(wanted: readonly GrantType[]): GrantType[] {
  if (!Array.isArray(wanted) || wanted.some((one) => !grantTypes.includes(one))) {
    refuse({ code: 'invalid', field: 'grantTypes', reason: `must contain only ${grantTypes.join(', ')}` });
  }
  return grantTypes.filter((one) => one === 'authorization_code' || wanted.includes(one));
}

function checkedAdminScopes(wanted: readonly AdminScope[]): AdminScope[] {
  if (!Array.isArray(wanted) || wanted.some((one) => !adminScopes.includes(one))) {
    refuse({ code: 'invalid', field: 'adminScopes', reason: `must contain only ${adminScopes.join(', ')}` });
  }
  return adminScopes.filter((one) => wanted.includes(one));
}

/** A single Ed25519 key is `jwk`, as the contract has it; all else is `jwkSet`. */
function keysOf(jwks: unknown): Pick<Client, 'jwk' | 'jwkSet'> {
  if (jwks === null) return { jwk: null, jwkSet: null };
  const [first, ...others] = parseClientKeys(jwks);
  const isSingle = others.length === 0 && first?.kty === 'OKP';
  return isSingle ? { jwk: first, jwkSet: null } : { jwk: null, jwkSet: [...(first ? [first] : []), ...others] };
}

/** An address that this server calls. */
function fetchedUri(field: string, uri: string | null, allowPrivate: boolean): string | null {
  if (uri === null) return null;
  const reason = typeof uri === 'string' ? checkLogoutUri(uri, allowPrivate) : 'must be text';
  if (reason) refuse({ code: 'invalid', field, reason });
  return uri;
}

function oneOf<T extends string>(field: string, value: T, allowed: readonly T[]): T {
  if (!allowed.includes(value)) refuse({ code: 'invalid', field, reason: `must be one of ${allowed.join(', ')}` });
  return value;
}

function uris(field: string, values: readonly string[]): string[] {
  if (!Array.isArray(values) || values.some((uri) => typeof uri !== 'string')) {
    refuse({ code: 'invalid', field, reason: 'must be a list of URLs' });
  }
  if (values.length > maxUris) refuse({ code: 'invalid', field, reason: `must contain at most ${maxUris} URLs` });
  for (const [index, uri] of values.entries()) {
    const reason = checkRedirectUri(uri);
    if (reason) refuse({ code: 'invalid', field: `${field}[${index}]`, reason });
  }
  return [...new Set(values)];
}
