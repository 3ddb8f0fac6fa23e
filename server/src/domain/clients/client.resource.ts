import { adminScopes } from '../kernel/admin-api.ts';
import { cleanMailName } from '../kernel/name.ts';
import { type GrantType, grantTypes, idTokenAlgorithms, tokenEndpointAuthMethods } from '../kernel/openid.ts';
import { refuse } from '../kernel/problem.ts';
import { choice, choices, flag, json, jsonOf, number, type SettingsOf, text, texts } from '../kernel/resource.ts';
import { sessionPolicyFields } from '../projects/project.resource.ts';
import { checkedCrossAppAccess } from './assertions/cross-app-access.ts';
import { clientSwitches } from './client-switches.resource.ts';
import { fetchedUri } from './logout-uri.ts';
import { checkRedirectUri } from './redirect-uri.ts';
import { samlFields } from './saml/saml.resource.ts';

const maxUris = 100;

const clientKinds = ['single-page', 'web-server', 'native'] as const;
const logoutTokenTypes = ['secevent', 'logout'] as const;
const clientAccess = ['everyone', 'assigned'] as const;

/** Settings of OIDC clients (service.md 2.5), in the order of their documents. */
export const clientFields = {
  name: text({ check: (name) => cleanMailName(name), sensitive: false }),
  /** Selects the console's instructions; no rule depends on it. Null: unknown. */
  kind: choice(
    { name: 'ClientKind', says: 'The environment in which an application runs.', values: clientKinds },
    { default: null, sensitive: false, says: "For the console's instructions." },
  ),
  tokenEndpointAuthMethod: choice(
    {
      name: 'TokenEndpointAuthMethod',
      says: 'Client authentication at the token endpoint (RFC 7591 §2).',
      values: tokenEndpointAuthMethods,
    },
    { default: 'none', columnDefault: null, sensitive: true, input: 'Default: NONE.' },
  ),
  /** A JWK, a JWK Set, or either as JSON text, stored as `jwk` or `jwkSet`. See {@link parseClientKeys}. */
  jwks: json({
    ...{ default: null, clearable: true, stored: false, view: false, sensitive: true },
    says: 'Public keys: a JWK or a JWK Set, as an object or as JSON text. The base issuer accepts Ed25519; that of the project also P-256 and RSA.',
  }),
  /** At most one of `jwk`, `jwkSet` and `jwksUri` is set. */
  jwksUri: text({
    ...{ default: null, clearable: true, check: fetchedUri, sensitive: true },
    says: 'The URL of its keys.',
    input: 'The https URL of its keys, instead of `jwks`.',
  }),
  /** All three are set, or none: tokens of another issuer authenticate the client. See decisions/0411. */
  workloadIssuer: text({
    ...{ default: null, clearable: true, check: fetchedUri, sensitive: true },
    says: 'The issuer of tokens that authenticate its workload.',
    input:
      'With `PRIVATE_KEY_JWT`: the https issuer of the tokens of a CI job or service account. Its keys are discovered, unless the application has `jwks` or `jwksUri`.',
  }),
  workloadSubject: text({
    ...{ default: null, clearable: true, check: claim, sensitive: true },
    says: '`sub` of the tokens of its workload; must match exactly.',
  }),
  workloadAudience: text({
    ...{ default: null, clearable: true, check: claim, sensitive: true },
    says: '`aud` of the tokens of its workload; must match exactly.',
  }),
  /** Of its ID and logout tokens, at issuers that offer it. */
  idTokenSignedResponseAlg: choice(
    { name: 'IdTokenAlgorithm', says: 'Signature of ID tokens.', values: idTokenAlgorithms },
    {
      ...{ default: 'ES512', sensitive: false },
      says: "At the project's issuer; the base issuer signs with ES512.",
      input:
        "At the project's issuer. Default: RS256 with a client secret, else ES512, the only one at the base issuer.",
    },
  ),
  redirectUris: texts({
    ...{ default: [], columnDefault: null, check: uris, sensitive: true },
    input:
      'Must match exactly, except the port of a loopback address; https, http on loopback, or the scheme of an app, such as com.example.app:/callback, for public clients.',
  }),
  /** The account page links to it; so do pages of sign-ins that have ended, without it by `startOf`. */
  startUri: text({
    ...{ default: null, clearable: true, check: startAddress, sensitive: true },
    says: 'Where users open the application. The account page links to applications with a start address.',
    input: 'https, or http on loopback. The account page links to applications with a start address.',
  }),
  /** Not in documents, which have no images. */
  logoId: text({
    ...{ default: null, clearable: true, check: (id) => id, sensitive: true, exported: false },
    says: 'The uploaded logo: shown on the account page, the consent page and in the console.',
    input: 'The id of an uploaded logo: `POST /admin/projects/{id}/logos`.',
  }),
  postLogoutRedirectUris: texts({ default: [], columnDefault: null, check: uris, sensitive: true }),
  backchannelLogoutUri: text({ default: null, clearable: true, check: fetchedUri, sensitive: true }),
  backchannelLogoutSessionRequired: flag({ default: true, sensitive: false, input: 'Default: true.' }),
  /** `typ` of its logout tokens: `secevent+jwt` or `logout+jwt`. */
  logoutTokenType: choice(
    {
      name: 'LogoutTokenTyp',
      says: 'Header `typ` of logout tokens: `secevent+jwt` or `logout+jwt`.',
      values: logoutTokenTypes,
    },
    { default: 'secevent', sensitive: false, api: 'logoutTokenTyp', view: false, input: 'Default: SECEVENT.' },
  ),
  idTokenTtlSeconds: number({
    ...{ default: null, clearable: true, unit: 'seconds', bounds: sessionPolicyFields.idTokenTtlSeconds.bounds },
    ...{ sensitive: false, says: "In seconds; absent: the project's value." },
    input: "1 to 86,400 seconds. Default: 300 with a client secret, else the project's value, which null selects.",
  }),
  /** Limited to 1…3600 when a token is issued. */
  accessTokenTtlSeconds: number({
    ...{ default: null, clearable: true, unit: 'seconds', bounds: sessionPolicyFields.accessTokenTtlSeconds.bounds },
    ...{ sensitive: false, says: "In seconds; absent: the project's value." },
    input: "1 to 3600 seconds; default: the project's value.",
  }),
  refreshTokenTtlSeconds: number({
    ...{ default: null, clearable: true, unit: 'seconds', bounds: sessionPolicyFields.refreshTokenTtlSeconds.bounds },
    sensitive: false,
    says: 'Maximum age of its refresh tokens after a sign-in, in seconds, if shorter than in the project.',
    input:
      'Lifetime of its refresh tokens after a sign-in, in seconds. The shorter value of client and project applies.',
  }),
  refreshTokenIdleSeconds: number({
    ...{ default: null, clearable: true, unit: 'seconds', bounds: sessionPolicyFields.refreshTokenIdleSeconds.bounds },
    sensitive: false,
    says: 'Maximum time without use of its refresh tokens, in seconds, if shorter than in the project.',
    input: 'Idle timeout of its refresh tokens, in seconds. The shorter value of client and project applies.',
  }),
  /** Those that it may send to the token endpoint, at issuers that offer them. */
  grantTypes: choices(
    { name: 'GrantType', says: 'Grants of the token endpoint.', values: grantTypes },
    {
      ...{ default: ['authorization_code'], check: checkedGrants, sensitive: true, says: "At the project's issuer." },
      input:
        "At the project's issuer. Default: AUTHORIZATION_CODE, which every client has, and REFRESH_TOKEN with a client secret.",
    },
  ),
  /** Authorization servers for which it gets identity assertions of its users (decisions/0425). */
  crossAppAccess: jsonOf(checkedCrossAppAccess, {
    ...{ default: null, clearable: true, sensitive: true },
    says: 'Authorization servers for which it gets identity assertions (ID-JAG) by token exchange: `audience`, the issuer; `clientId` of the application there; and at most which `scopes` and `resources`, none if absent.',
  }),
  adminScopes: choices(
    { values: adminScopes },
    {
      ...{ default: [], sensitive: (wanted) => Array.isArray(wanted) && wanted.length > 0 },
      says: 'Its scopes at this API, in its project.',
      input:
        'Its scopes at this API, in its project, with tokens of the grant CLIENT_CREDENTIALS: `users:read`, `users:write`, `consent:read`, `consent:write`, `clients:read`, `clients:write`, `projects:read`, `projects:write`, `audit:read`, `profile:self`; and `scim`, at the SCIM endpoints. Default: none.',
    },
  ),
  ...clientSwitches,
  ...samlFields,
  /** Whether each user of the project may use it, or only those whom an access rule names (decisions/0371). */
  access: choice(
    {
      name: 'ClientAccess',
      says: 'The users who may use an application: each of the project, or those whom its access rules name.',
      values: clientAccess,
    },
    { default: 'everyone', sensitive: true, input: 'Default: EVERYONE.' },
  ),
  /** Stored as `disabledAt`. */
  disabled: flag({
    ...{ default: false, stored: false, view: false, inputs: 'change', sensitive: true },
    input: 'All requests of a disabled client are refused.',
  }),
};

/** An OIDC client's configuration. */
export type ClientSettings = SettingsOf<typeof clientFields>;

/** `authorization_code` may be omitted: every client has it. */
function checkedGrants(wanted: GrantType[]): GrantType[] {
  if (!Array.isArray(wanted) || wanted.some((one) => !grantTypes.includes(one))) {
    refuse({ code: 'invalid', field: 'grantTypes', reason: `must contain only ${grantTypes.join(', ')}` });
  }
  return grantTypes.filter((one) => one === 'authorization_code' || wanted.includes(one));
}

/** An address that browsers open. */
function startAddress(uri: string, field: string): string {
  const reason = checkRedirectUri(uri);
  return reason === null ? uri : refuse({ code: 'invalid', field, reason });
}

/** An address that this server calls. */
function claim(value: string, field: string): string {
  if (value.length > 500 || !/^[\x21-\x7e]+$/.test(value)) {
    refuse({ code: 'invalid', field, reason: 'must have 1 to 500 printable ASCII characters without spaces' });
  }
  return value;
}

function uris(values: string[], field: string): string[] {
  if (values.length > maxUris) refuse({ code: 'invalid', field, reason: `must contain at most ${maxUris} URLs` });
  for (const [index, uri] of values.entries()) {
    const reason = checkRedirectUri(uri, 'with apps');
    if (reason) refuse({ code: 'invalid', field: `${field}[${index}]`, reason });
  }
  return [...new Set(values)];
}
