/** Why a sign-in by a provider failed; for log, events and the health of the connection. */
export type UpstreamFault =
  /** The person or the provider ended it (`error`). */
  | 'denied'
  | 'provider-error'
  | 'unreachable'
  | 'discovery'
  /** The callback lacks `code` or has `iss` of another issuer (RFC 9207). */
  | 'response'
  /** The provider refused the code, or this client. */
  | 'token-endpoint'
  | 'signature'
  | 'issuer'
  | 'audience'
  | 'time'
  | 'nonce'
  | 'subject'
  | 'tenant'
  | 'userinfo'
  | 'busy';

/** The endpoints of a provider (OpenID Connect Discovery 1.0 section 3). */
export interface ProviderMetadata {
  issuer: string;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  jwksUri: string;
  userInfoEndpoint: string | null;
  /** Whether the client authenticates in the body instead of by HTTP Basic. */
  postsSecret: boolean;
  /** Whether its responses contain `iss` (RFC 9207). */
  sendsIss: boolean;
}

/** A provider, and this server as its client. */
export interface Provider {
  metadata: ProviderMetadata;
  clientId: string;
  secret: string | null;
}

/** The response of a provider at the callback, and the expected values. */
export interface CodeToRedeem {
  redirectUri: string;
  /** The parameters of the callback. */
  parameters: URLSearchParams;
  state: string;
  nonce: string;
  verifier: string;
  now: Date;
}

/** The client side of OpenID Connect; the domain checks its results once more. Never throws. */
export interface UpstreamClient {
  /** Exchanges the code (OpenID Connect Core section 3.1.3). */
  redeem(
    provider: Provider,
    code: CodeToRedeem,
  ): Promise<{ idToken: string; accessToken: string } | { fault: UpstreamFault }>;
  /** The claims of the UserInfo endpoint, whose `sub` must be `subject`. */
  userInfo(
    provider: Provider,
    accessToken: string,
    subject: string,
  ): Promise<{ claims: Record<string, unknown> } | { fault: UpstreamFault }>;
}
