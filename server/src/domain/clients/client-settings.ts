import { type AdminScope, adminScopes } from '../kernel/admin-api.ts';
import { cleanMailName } from '../kernel/name.ts';
import { type GrantType, grantTypes, idTokenAlgorithms, tokenEndpointAuthMethods } from '../kernel/openid.ts';
import { refuse } from '../kernel/problem.ts';
import type { Issuer } from '../projects/issuer.ts';
import { sessionPolicyBounds } from '../projects/session-policy.ts';
import { checkedBy, flag, oneOf, orNull, seconds } from '../projects/setting-checks.ts';
import { type Client, clientKinds, logoutTokenTypes } from './client.entity.ts';
import { parseClientKeys } from './client-keys.ts';
import { checkLogoutUri } from './logout-uri.ts';
import { checkRedirectUri } from './redirect-uri.ts';

const maxUris = 100;

/** Settings that a column of the same name stores. */
const checks = {
  name: (name: string) => cleanMailName(name),
  kind: oneOf(clientKinds),
  tokenEndpointAuthMethod: oneOf(tokenEndpointAuthMethods),
  idTokenSignedResponseAlg: oneOf(idTokenAlgorithms),
  redirectUris: uris,
  postLogoutRedirectUris: uris,
  grantTypes: checkedGrants,
  adminScopes: checkedAdminScopes,
  backchannelLogoutSessionRequired: flag,
  pkceRequired: flag,
  pkceOptional: flag,
  relatedOrigins: flag,
  passkeyRequired: flag,
  loginHintChecked: flag,
  thirdParty: flag,
  dpopRequired: flag,
  dpopNonceRequired: flag,
  pushedRequestsRequired: flag,
  fapiProfile: flag,
  logoutTokenType: (type: Client['logoutTokenType']) => oneOf(logoutTokenTypes)(type, 'logoutTokenTyp'),
  idTokenTtlSeconds: orNull(seconds(sessionPolicyBounds.idTokenTtlSeconds)),
  accessTokenTtlSeconds: orNull(seconds(sessionPolicyBounds.accessTokenTtlSeconds)),
  refreshTokenTtlSeconds: orNull(seconds(sessionPolicyBounds.refreshTokenTtlSeconds)),
  refreshTokenIdleSeconds: orNull(seconds(sessionPolicyBounds.refreshTokenIdleSeconds)),
};

type StoredSettings = { [Name in keyof typeof checks]: ReturnType<(typeof checks)[Name]> };

/** An OIDC client's configuration (service.md 2.5). */
export interface ClientSettings extends StoredSettings {
  /** A JWK, a JWK Set, or either as JSON text; null: none. See {@link parseClientKeys}. */
  jwks: unknown;
  /** The URL of the keys instead; null: none. */
  jwksUri: string | null;
  backchannelLogoutUri: string | null;
  disabled: boolean;
}

/** Addresses that this server calls. */
type FetchedFrom = Pick<ClientSettings, 'jwksUri' | 'backchannelLogoutUri'>;

/** Refuses `invalid`. */
export function checkedSettings(
  input: Partial<ClientSettings>,
  { now, allowPrivateTargets }: { now: Date; allowPrivateTargets: boolean },
): Partial<Client> {
  const fetched = orNull((uri: string, field) => fetchedUri(field, uri, allowPrivateTargets));
  return {
    ...checkedBy<StoredSettings>(checks, input),
    ...checkedBy<FetchedFrom>({ jwksUri: fetched, backchannelLogoutUri: fetched }, input),
    ...(input.jwks === undefined ? {} : keysOf(input.jwks)),
    ...(input.disabled === undefined ? {} : { disabledAt: input.disabled ? now : null }),
  };
}

/** `authorization_code` may be omitted: every client has it. */
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

/** A single Ed25519 key is `jwk`, as the contract specifies; all else is `jwkSet`. */
function keysOf(jwks: unknown): Pick<Client, 'jwk' | 'jwkSet'> {
  if (jwks === null) return { jwk: null, jwkSet: null };
  const [first, ...others] = parseClientKeys(jwks);
  const isSingle = others.length === 0 && first?.kty === 'OKP';
  return isSingle ? { jwk: first, jwkSet: null } : { jwk: null, jwkSet: [...(first ? [first] : []), ...others] };
}

/** An address that this server calls. */
function fetchedUri(field: string, uri: string, allowPrivate: boolean): string {
  const reason = typeof uri === 'string' ? checkLogoutUri(uri, allowPrivate) : 'must be text';
  if (reason) refuse({ code: 'invalid', field, reason });
  return uri;
}

function uris(values: readonly string[], field: string): string[] {
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

/** Whether an application with these settings can sign in at an issuer. */
export function fitsIssuer(client: Client, { capabilities }: Pick<Issuer, 'capabilities'>): boolean {
  const isPublic = client.tokenEndpointAuthMethod === 'none';
  return (
    capabilities.authMethods.includes(client.tokenEndpointAuthMethod) &&
    capabilities.idTokenAlgorithms.includes(client.idTokenSignedResponseAlg) &&
    client.grantTypes.every((grant) => capabilities.grantTypes.includes(grant)) &&
    (capabilities.pushedRequests || !(client.pushedRequestsRequired || client.fapiProfile)) &&
    (capabilities.optionalPkce || isPublic || !client.pkceOptional) &&
    // The base issuer verifies assertions with one Ed25519 key.
    (capabilities.assertionAlgorithms.length > 1 || isPublic || (client.jwk ?? null) !== null)
  );
}
