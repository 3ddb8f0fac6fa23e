/** Client authentication methods of the token endpoint (OpenID Connect Core section 9, RFC 7591 section 2). */
export const tokenEndpointAuthMethods = [
  'none',
  'private_key_jwt',
  'client_secret_basic',
  'client_secret_post',
] as const;
export type TokenEndpointAuthMethod = (typeof tokenEndpointAuthMethods)[number];

/** Signing algorithms of ID tokens (RFC 7518 section 3.1, RFC 8037); the first is the default. */
export const idTokenAlgorithms = ['ES512', 'ES256', 'RS256', 'EdDSA'] as const;
export type IdTokenAlgorithm = (typeof idTokenAlgorithms)[number];

/** Signing algorithms of DPoP proofs (RFC 9449 section 5.1, RFC 9864): asymmetric only. */
export const dpopAlgorithms = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'PS256', 'RS256'] as const;

/** `response_mode` (OAuth 2.0 Multiple Response Type Encoding Practices §2.1, Form Post Response Mode 1.0). */
export type ResponseMode = 'query' | 'form_post';

/** Grant types (RFC 6749, RFC 7523, RFC 7591 section 2, RFC 8628, RFC 8693), as settings name them. */
export const grantTypes = [
  'authorization_code',
  'refresh_token',
  'client_credentials',
  'device_code',
  'token_exchange',
  'jwt_bearer',
] as const;
export type GrantType = (typeof grantTypes)[number];

/** `grant_type` in requests and discovery. */
export const grantTypeNames: Record<GrantType, string> = {
  authorization_code: 'authorization_code',
  refresh_token: 'refresh_token',
  client_credentials: 'client_credentials',
  device_code: 'urn:ietf:params:oauth:grant-type:device_code',
  token_exchange: 'urn:ietf:params:oauth:grant-type:token-exchange',
  jwt_bearer: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
};
