import type { Connection } from './connection.entity.ts';
import type { ReportLine } from './report.ts';
import type { UpstreamPerson, UpstreamRequest } from './upstream-request.entity.ts';

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
  /** SAML: an encrypted assertion cannot be decrypted. */
  | 'decryption'
  | 'issuer'
  | 'audience'
  /** SAML: `Recipient` or `Destination` is not our ACS URL. */
  | 'recipient'
  | 'time'
  /** It is not the answer to this request. */
  | 'nonce'
  /** SAML: the assertion was used before. */
  | 'replayed'
  | 'subject'
  | 'tenant'
  | 'userinfo'
  | 'busy';

/** Secrets of a request, stored sealed. The browser returns `state`. */
export interface RequestSecrets {
  state: string;
  nonce: string;
  /** PKCE. */
  verifier: string;
  /** The handle of the hosted page's flow; '' for a test. */
  flow: string;
}

/** A stored request to a provider. */
export interface PendingUpstream {
  request: UpstreamRequest;
  connection: Connection;
  /** Of the connection's settings that verify the answer. */
  version: number;
  secrets: RequestSecrets;
}

/** How the person is to sign in at the provider. */
export interface WantedSignIn {
  /** Our address for the answer. */
  answerUrl: string;
  /** Whether the person must authenticate again. */
  asksPerson: boolean;
  loginHint?: string | null | undefined;
  uiLocales?: string | null | undefined;
}

/** The answer of a provider, as the browser delivered it. */
export interface ProviderAnswer {
  parameters: URLSearchParams;
  /** Our address that received it. */
  answerUrl: string;
}

/** A verified answer, and the claims or attributes that it contains. */
export interface VerifiedAnswer {
  person: UpstreamPerson;
  claims: Record<string, unknown>;
  /** SAML: it counts once, and is remembered until then. */
  assertion?: { id: string; until: Date };
}

/** What an answer is worth. The report is made for tests, and only shown. */
export type ReadAnswer = (VerifiedAnswer | { fault: UpstreamFault }) & { report?: readonly ReportLine[] };

/** One kind of connection. Neither method is called in a transaction. */
export interface UpstreamProtocol {
  /** The address of the provider for the browser. */
  address(
    connection: Connection,
    secrets: RequestSecrets,
    wanted: WantedSignIn,
  ): Promise<{ url: string } | { fault: UpstreamFault }>;
  /** Verifies the answer to a request. */
  read(pending: PendingUpstream, answer: ProviderAnswer): Promise<ReadAnswer>;
}

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

/** A failed exchange, with the claims of an ID token that was refused, for the report of a test. */
export interface RejectedToken {
  fault: UpstreamFault;
  claims?: Record<string, unknown>;
}

/** The client side of OpenID Connect; the domain checks its results once more. Never throws. */
export interface UpstreamClient {
  /** Exchanges the code (OpenID Connect Core section 3.1.3). */
  redeem(provider: Provider, code: CodeToRedeem): Promise<{ idToken: string; accessToken: string } | RejectedToken>;
  /** The claims of the UserInfo endpoint, whose `sub` must be `subject`. */
  userInfo(
    provider: Provider,
    accessToken: string,
    subject: string,
  ): Promise<{ claims: Record<string, unknown> } | { fault: UpstreamFault }>;
}
