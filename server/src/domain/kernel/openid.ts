/** Ways of client authentication at the token endpoint (OpenID Connect Core section 9, RFC 7591 section 2). */
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

/** `response_mode` (OAuth 2.0 Multiple Response Type Encoding Practices §2.1, Form Post Response Mode 1.0). */
export type ResponseMode = 'query' | 'form_post';

/** Grant types (RFC 6749, RFC 7591 section 2). */
export const grantTypes = ['authorization_code', 'refresh_token'] as const;
export type GrantType = (typeof grantTypes)[number];
