import { z } from 'zod';
import type { Apis, GrantedApi } from '../domain/apis/apis.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import type { ClientSource } from '../domain/clients/client-registry.ts';
import { allowsApi, limitsOfClient, scopeBeyond } from '../domain/clients/introductions/client-policy.ts';
import { hasAppScheme, matchesRedirectUri } from '../domain/clients/redirect-uri.ts';
import { type ResponseMode } from '../domain/kernel/openid.ts';
import { isStorableText } from '../domain/kernel/secret.ts';
import { type AcrRequest, asksForMore, canBeMet, defaultAcr } from '../domain/policy/acr.ts';
import { canOmitPkce, mayOmitPkce, needsPush } from '../domain/policy/client.ts';
import { type Issuer, organizationsScope } from '../domain/projects/issuer.ts';
import { grantedScope } from '../domain/tokens/scope.ts';
import { trimmed } from '../domain/users/login.ts';
import type { Parameters } from '../http/parameters.ts';
import { type ConnectionIds, namedConnection } from './connection.ts';
import { beyondPolicy, OAuthError, type OAuthErrorCode } from './oauth-error.ts';
import { namedOrganization, type OrganizationNames } from './organization.ts';
import { parameterFault } from './parameter-fault.ts';

/** A checked client and one of its redirect URIs. */
export interface CheckedTarget {
  client: Client;
  redirectUri: string;
  /** Returned to the client; also absent if it was repeated or is malformed. */
  state: string | undefined;
}

/** An authorization request, checked (OpenID Connect Core §3.1.2.1, service.md 4.2). */
export interface CheckedRequest extends CheckedTarget {
  /** Identifiers of APIs that the client may use (RFC 8707). */
  resources: readonly string[];
  scope: string;
  nonce: string | undefined;
  /** Absent: the client may omit PKCE, and did. */
  codeChallenge: string | undefined;
  /** Thumbprint of the DPoP key that must redeem the code (RFC 9449 §10). */
  dpopJkt: string | undefined;
  responseMode: ResponseMode;
  prompt: 'none' | 'login' | undefined;
  /** Whether a third-party client asks for the user's consent again. */
  asksConsent: boolean;
  maxAgeSeconds: number | undefined;
  idTokenHint: string | undefined;
  loginHint: string | undefined;
  uiLocales: string | undefined;
  /** See `namedOrganization`. */
  organizationId: string | null | undefined;
  /** See `namedConnection`. */
  connectionId: string | null;
  /** Absent: every sign-in meets it. */
  acr?: AcrRequest;
}

/** Maximum length of `state`, `nonce` and hints; longer ones are refused, never truncated. */
const longest = 2048;

/**
 * A longer `max_age` counts as this many seconds: less than the time since 1970, which a session without a proof has as its
 * time of proof.
 */
const longestAge = 999_999_999;

/** The context of the checks: issuer, client, and whether the request was pushed. */
interface RequestContext {
  /** Whether it was not pushed, and must be. */
  lacksPush: boolean;
  modes: readonly ResponseMode[];
  /** The issuer at which an administrator could allow the client to omit PKCE: this one, the project's, or none. */
  couldOmitPkce: 'here' | 'elsewhere' | 'nowhere';
  /** Whether the request has no PKCE, and may. */
  omitsPkce: boolean;
  /** Whether it names APIs, at an issuer that has them: OAuth without OpenID Connect. */
  isForApis: boolean;
}

/** The reason why the request cannot be redirected; shown on the error page. */
export type TargetFault = 'client' | 'redirect-uri' | 'parameters';

/** The client and redirect URI, or why they are invalid. Nothing is redirected before this passes. */
export async function checkTarget(
  parameters: Parameters,
  clients: Pick<ClientSource, 'byId'>,
  { capabilities }: Issuer,
): Promise<CheckedTarget | TargetFault> {
  const { faults } = parameters;
  if (['client_id', 'redirect_uri'].some((name) => faults.includes(name))) return 'parameters';
  const clientId = parameters.get('client_id');
  const client = clientId === undefined ? null : await clients.byId(clientId);
  if (!client) return 'client';
  const redirectUri = parameters.get('redirect_uri');
  if (redirectUri === undefined || !matchesRedirectUri(client.redirectUris, redirectUri)) return 'redirect-uri';
  if (hasAppScheme(redirectUri) && !(capabilities.appSchemes && client.tokenEndpointAuthMethod === 'none'))
    return 'redirect-uri';
  const state = parameters.get('state');
  if (state !== undefined && state.length > longest) return 'parameters';
  return { client, redirectUri, state: faults.includes('state') ? undefined : state };
}

/** Whether a client may omit PKCE at an issuer. */
export function omitsPkceAt({ capabilities }: Issuer, client: Client): boolean {
  return capabilities.optionalPkce && mayOmitPkce(client);
}

/** `response_mode`, if the issuer offers it; else `query` (OAuth 2.0 Multiple Response Type Encoding Practices §2.1). */
export function responseModeOf(parameters: Parameters, { capabilities }: Issuer): ResponseMode {
  return capabilities.responseModes.find((mode) => mode === parameters.get('response_mode')) ?? 'query';
}

function requestContext(parameters: Parameters, client: Client, issuer: Issuer, isPushed: boolean): RequestContext {
  const hasPkce = ['code_challenge', 'code_challenge_method'].some((name) => parameters.get(name) !== undefined);
  return {
    lacksPush: !isPushed && needsPush(client),
    modes: issuer.capabilities.responseModes,
    couldOmitPkce: !canOmitPkce(client) ? 'nowhere' : issuer.capabilities.optionalPkce ? 'here' : 'elsewhere',
    omitsPkce: !hasPkce && omitsPkceAt(issuer, client),
    isForApis: issuer.capabilities.apis && parameters.get('resource') !== undefined,
  };
}

function isMode(mode: string | undefined, modes: readonly string[]): boolean {
  return mode === undefined || modes.includes(mode);
}

/** One row per check, in order: the refusal and its condition. */
const checks: readonly (readonly [
  OAuthErrorCode,
  string,
  (parameters: Parameters, context: RequestContext) => boolean,
])[] = [
  [
    'invalid_request',
    'The application must push its authorization requests (RFC 9126), to the issuer of its project.',
    (_, { lacksPush }) => lacksPush,
  ],
  ['request_not_supported', 'request is not supported.', (p) => p.get('request') !== undefined],
  ['request_uri_not_supported', 'request_uri is not supported.', (p) => p.get('request_uri') !== undefined],
  ['registration_not_supported', 'registration is not supported.', (p) => p.get('registration') !== undefined],
  ['invalid_request', 'response_type is missing.', (p) => p.get('response_type') === undefined],
  ['unsupported_response_type', 'response_type must be code.', (p) => p.get('response_type') !== 'code'],
  [
    'invalid_request',
    'response_mode must be query.',
    (p, { modes }) => modes.length === 1 && !isMode(p.get('response_mode'), modes),
  ],
  [
    'invalid_request',
    'response_mode must be query or form_post.',
    (p, { modes }) => !isMode(p.get('response_mode'), modes),
  ],
  [
    'invalid_scope',
    'scope must include openid.',
    (p, { isForApis }) => !isForApis && !(p.get('scope') ?? '').split(' ').includes('openid'),
  ],
  [
    'invalid_request',
    'code_challenge is missing. The application must use PKCE, or an administrator allows it to sign in without.',
    (p, { couldOmitPkce, omitsPkce }) =>
      couldOmitPkce === 'here' && !omitsPkce && p.get('code_challenge') === undefined,
  ],
  [
    'invalid_request',
    'code_challenge is missing. The application must use PKCE, or the issuer of its project, where an administrator can allow it to sign in without.',
    (p, { couldOmitPkce }) => couldOmitPkce === 'elsewhere' && p.get('code_challenge') === undefined,
  ],
  [
    'invalid_request',
    'code_challenge is missing.',
    (p, { omitsPkce }) => !omitsPkce && p.get('code_challenge') === undefined,
  ],
  [
    'invalid_request',
    'code_challenge_method must be S256.',
    (p, { omitsPkce }) => !omitsPkce && p.get('code_challenge_method') !== 'S256',
  ],
  [
    'invalid_request',
    'code_challenge must be 43 characters of base64url.',
    (p, { omitsPkce }) => !omitsPkce && !/^[A-Za-z0-9_-]{43}$/.test(p.get('code_challenge') ?? ''),
  ],
  [
    'invalid_request',
    'dpop_jkt must be the SHA-256 thumbprint of a key: 43 characters of base64url.',
    (p) => !/^[A-Za-z0-9_-]{43}$/.test(p.get('dpop_jkt') ?? 'x'.repeat(43)),
  ],
  [
    'invalid_request',
    'prompt is not one of none, login, select_account, consent.',
    (p) => !knownPrompt(p.get('prompt')),
  ],
  ['invalid_request', 'max_age must be a whole number of seconds.', (p) => !isSeconds(p.get('max_age'))],
  ['invalid_request', 'claims must be a JSON object.', (p) => claimsOf(p) === null],
  [
    'invalid_request',
    'acr in claims must be null or an object: essential is a boolean, value a string, values at most 20 strings, without NUL and lone surrogates.',
    (p) => !acrClaim.safeParse(acrMember(p)).success,
  ],
  [
    'invalid_request',
    'acr_values is longer than 2,048 characters.',
    (p) => (p.get('acr_values') ?? '').length > longest,
  ],
  ['invalid_request', 'nonce is longer than 2,048 characters.', (p) => (p.get('nonce') ?? '').length > longest],
  ['invalid_request', 'scope is longer than 2,048 characters.', (p) => (p.get('scope') ?? '').length > longest],
  [
    'unmet_authentication_requirements',
    'acr in claims is essential, and no sign-in meets any of its values.',
    (p) => isUnsatisfiable(acrOf(p)),
  ],
];

/**
 * `offline_access` has no effect for a client without refresh tokens (OpenID Connect Core section 11), nor `organizations` in a
 * project without.
 */
export function scopesFor({ grantTypes, project }: Client, { capabilities }: Issuer): readonly string[] {
  return capabilities.scopes.filter((scope) => {
    if (scope === organizationsScope) return project.getEntity().organizationsEnabled;
    return scope !== 'offline_access' || grantTypes.includes('refresh_token');
  });
}

/** What a request names: APIs that its client may use, an organization (`namedOrganization`) and a connection (`namedConnection`). */
interface NamedThings {
  apis: readonly GrantedApi[];
  organizationId: string | null | undefined;
  connectionId: string | null;
}

/** Looks up what a request names. Throws `OAuthError`. */
export async function named(
  deps: { apis: Pick<Apis, 'usableBy'> } & OrganizationNames & ConnectionIds,
  parameters: Parameters,
  client: Client,
  issuer: Issuer,
): Promise<NamedThings> {
  const apis = await namedApis(deps, parameters, client, issuer);
  const organizationId = await namedOrganization(deps, parameters, client, issuer);
  return { apis, organizationId, connectionId: await namedConnection(deps, parameters, client, issuer) };
}

/** The APIs of a request that its client may use. */
async function namedApis(
  { apis }: { apis: Pick<Apis, 'usableBy'> },
  parameters: Parameters,
  client: Client,
  issuer: Issuer,
): Promise<GrantedApi[]> {
  const isNamed = issuer.capabilities.apis && parameters.get('resource') !== undefined;
  if (!isNamed || parameterFault(parameters, issuer)) return [];
  const usable = await apis.usableBy(client, parameters.all('resource'));
  return usable.filter(({ audience }) => allowsApi(limitsOfClient(client), audience));
}

/** `resource` (RFC 8707 section 2.1), all of which the client may use. Ignored if the issuer has no APIs. */
function resourcesOf(
  parameters: Parameters,
  { thirdParty }: Client,
  { capabilities }: Issuer,
  apis: readonly GrantedApi[],
): string[] {
  const wanted = capabilities.apis ? parameters.all('resource') : [];
  // Users consent to the scopes of one API: those of another can have the same names.
  if (thirdParty && wanted.length > 1) {
    throw new OAuthError('invalid_target', 'A third-party application can name one resource in a request.');
  }
  if (wanted.some((resource) => !apis.some(({ audience }) => audience === resource))) {
    throw new OAuthError('invalid_target', 'resource is not an API that the application may use.');
  }
  return wanted;
}

/**
 * Checks the request. Throws `OAuthError`, which is sent to the redirect URI.
 *
 * @param way those that it names, and
 * @param way.isPushed whether it was pushed (RFC 9126)
 */
export function check(
  parameters: Parameters,
  target: CheckedTarget,
  issuer: Issuer,
  { apis, connectionId, organizationId, isPushed }: NamedThings & { isPushed: boolean },
): CheckedRequest {
  const fault = parameterFault(parameters, issuer);
  if (fault) throw fault;
  const context = requestContext(parameters, target.client, issuer, isPushed);
  for (const [error, description, fails] of checks)
    if (fails(parameters, context)) throw new OAuthError(error, description);
  const prompts = parameters.get('prompt')?.split(' ') ?? [];
  const maxAge = parameters.get('max_age');
  const acr = acrOf(parameters);
  const ofApis = apis.flatMap(({ granted }) => granted);
  const limits = limitsOfClient(target.client);
  const resources = resourcesOf(parameters, target.client, issuer, apis);
  // Without `scope`, all scopes of the APIs, as for client credentials (RFC 6749 section 3.3).
  const asked = parameters.get('scope') ?? ofApis.filter((one) => scopeBeyond(limits, one) === undefined).join(' ');
  const scope = grantedScope(asked, [...scopesFor(target.client, issuer), ...ofApis]);
  if (scope === '') throw new OAuthError('invalid_scope', 'The application was granted none of the scopes.');
  const beyond = scopeBeyond(limits, scope);
  if (beyond !== undefined) throw beyondPolicy(beyond);
  return {
    ...target,
    resources,
    scope,
    nonce: parameters.get('nonce'),
    codeChallenge: parameters.get('code_challenge'),
    dpopJkt: parameters.get('dpop_jkt'),
    responseMode: responseModeOf(parameters, issuer),
    prompt: prompts.includes('none') ? 'none' : asksAgain(prompts) ? 'login' : undefined,
    asksConsent: target.client.thirdParty && prompts.includes('consent'),
    maxAgeSeconds: maxAge === undefined ? undefined : Math.min(Number(maxAge), longestAge),
    organizationId,
    connectionId,
    idTokenHint: parameters.get('id_token_hint'),
    loginHint: loginHintOf(parameters),
    uiLocales: parameters.get('ui_locales')?.slice(0, 200),
    ...(acr && asksForMore(acr) && { acr }),
  };
}

/** Undefined also for the text that a program writes for a missing value. */
function loginHintOf(parameters: Parameters): string | undefined {
  const hint = trimmed(parameters.get('login_hint') ?? '').slice(0, 320);
  return ['', 'undefined', 'null'].includes(hint) ? undefined : hint;
}

/** The `claims` parameter; null if it is not a JSON object, or too long. */
function claimsOf(parameters: Parameters): Record<string, unknown> | null {
  const text = parameters.get('claims') ?? '{}';
  if (text.length > longest) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

/** JSON can escape NUL and lone surrogates, so {@link Parameters.faults} misses them. */
const acrValue = z.string().refine(isStorableText);

const acrClaim = z
  .object({
    essential: z.boolean().optional(),
    value: acrValue.optional(),
    values: z.array(acrValue).max(20).optional(),
  })
  .nullish();

/** `acr` of the `claims` parameter, as an ID token claim. */
function acrMember(parameters: Parameters): unknown {
  const idToken = claimsOf(parameters)?.['id_token'];
  return typeof idToken === 'object' && idToken !== null && 'acr' in idToken ? idToken.acr : undefined;
}

/** `acr` of the `claims` parameter, else `acr_values` (OpenID Connect Core section 5.5.1.1). Other claims are ignored. */
function acrOf(parameters: Parameters): AcrRequest | undefined {
  const { essential = false, value, values = [] } = acrClaim.safeParse(acrMember(parameters)).data ?? {};
  const all = value === undefined ? values : [value];
  if (all.length > 0) return { values: all, essential: essential && !all.includes(defaultAcr) };
  const preferred = parameters.get('acr_values')?.split(' ').filter(Boolean).slice(0, 20);
  return preferred && { values: preferred, essential: false };
}

function isUnsatisfiable(acr: AcrRequest | undefined): boolean {
  return acr?.essential === true && !canBeMet(acr.values);
}

/** `consent` concerns third-party clients only: see `asksConsent`. */
function asksAgain(prompts: string[]): boolean {
  return prompts.includes('login') || prompts.includes('select_account');
}

function knownPrompt(prompt: string | undefined): boolean {
  if (prompt === undefined) return true;
  const prompts = prompt.split(' ');
  const known = prompts.every((one) => ['none', 'login', 'select_account', 'consent'].includes(one));
  return known && !(prompts.includes('none') && prompts.length > 1);
}

function isSeconds(text: string | undefined): boolean {
  return text === undefined || /^[0-9]+$/.test(text);
}
