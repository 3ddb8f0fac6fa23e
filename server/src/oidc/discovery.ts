import { locales } from '../domain/delivery/locale.ts';
import { adminScopes } from '../domain/kernel/admin-api.ts';
import { dpopAlgorithms, grantTypeNames } from '../domain/kernel/openid.ts';
import { organizationClaimNames } from '../domain/organizations/organization-claims.ts';
import { type Issuer, organizationsScope } from '../domain/projects/issuer.ts';
import { idJagType } from '../domain/tokens/mint.ts';

/** draft-ietf-oauth-identity-assertion-authz-grant section 7.2. */
const assertionProfile = 'urn:ietf:params:oauth:grant-profile:id-jag';

/** The languages in service.md 2.7. The document of the base issuer is fixed, the pages have more. */
const baseLocales = ['en', 'de', 'es', 'fr', 'ja'] as const;

/** RFC 8414 §2. Without the methods, clients would assume only HTTP Basic. */
function revocationMetadata(issuer: string, { authMethods, assertionAlgorithms }: Issuer['capabilities']) {
  return {
    revocation_endpoint: `${issuer}/oauth2/revoke`,
    revocation_endpoint_auth_methods_supported: [...authMethods],
    revocation_endpoint_auth_signing_alg_values_supported: [...assertionAlgorithms],
  };
}

/** RFC 8414 §2, RFC 9701 §7. */
function introspectionMetadata(issuer: string, capabilities: Issuer['capabilities']) {
  return {
    introspection_endpoint: `${issuer}/oauth2/introspect`,
    introspection_endpoint_auth_methods_supported: capabilities.authMethods.filter((method) => method !== 'none'),
    introspection_endpoint_auth_signing_alg_values_supported: [...capabilities.assertionAlgorithms],
    introspection_signing_alg_values_supported: [...capabilities.idTokenAlgorithms],
  };
}

/** The discovery document of an issuer (OpenID Connect Discovery §3, RFC 8414 §2; service.md 2.7). */
export function discoveryDocument({ url: issuer, capabilities, accepts, project }: Issuer) {
  const hasOrganizations = capabilities.organizations && project?.organizationsEnabled === true;
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/oauth2/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    end_session_endpoint: `${issuer}/oauth2/end_session`,
    ...(capabilities.revocation && revocationMetadata(issuer, capabilities)),
    ...(capabilities.introspection && introspectionMetadata(issuer, capabilities)),
    ...(capabilities.pushedRequests && { pushed_authorization_request_endpoint: `${issuer}/oauth2/par` }),
    ...(capabilities.grantTypes.includes('device_code') && {
      device_authorization_endpoint: `${issuer}/oauth2/device_authorization`,
    }),
    ...(accepts?.registration && { registration_endpoint: `${issuer}/oauth2/register` }),
    ...(accepts?.documents && { client_id_metadata_document_supported: true }),
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    response_types_supported: ['code'],
    response_modes_supported: [...capabilities.responseModes],
    grant_types_supported: capabilities.grantTypes.map((grantType) => grantTypeNames[grantType]),
    ...(capabilities.grantTypes.includes('token_exchange') && {
      identity_chaining_requested_token_types_supported: [idJagType],
    }),
    ...(capabilities.grantTypes.includes('jwt_bearer') && {
      authorization_grant_profiles_supported: [assertionProfile],
    }),
    code_challenge_methods_supported: ['S256'],
    id_token_signing_alg_values_supported: [...capabilities.idTokenAlgorithms],
    subject_types_supported: ['public'],
    scopes_supported: [
      ...capabilities.scopes.filter((scope) => hasOrganizations || scope !== organizationsScope),
      ...(capabilities.apis ? adminScopes : []),
    ],
    claims_supported: [
      'sub',
      'name',
      'given_name',
      'family_name',
      'email',
      'email_verified',
      'phone_number',
      'birthdate',
      'address',
      'locale',
      'zoneinfo',
      'updated_at',
      'iss',
      'aud',
      'iat',
      'nbf',
      'exp',
      'jti',
      'auth_time',
      'amr',
      'acr',
      'sid',
      'nonce',
      ...(capabilities.applicationClaims
        ? ['middle_name', 'nickname', 'preferred_username', 'profile', 'picture', 'groups', 'roles']
        : []),
      ...(hasOrganizations ? organizationClaimNames : []),
    ],
    acr_values_supported: [...capabilities.acrValues],
    token_endpoint_auth_methods_supported: [...capabilities.authMethods],
    token_endpoint_auth_signing_alg_values_supported: [...capabilities.assertionAlgorithms],
    dpop_signing_alg_values_supported: [...dpopAlgorithms],
    authorization_response_iss_parameter_supported: true,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    prompt_values_supported: ['none', 'login', 'select_account', 'consent'],
    display_values_supported: ['page', 'popup'],
    ui_locales_supported: capabilities.uiLocales ? [...locales] : [...baseLocales],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    require_request_uri_registration: false,
  };
}
