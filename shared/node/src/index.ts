/** Server library: code exchange, token verification, logout, and delegation of second factors. */
export {
  DelegationClient,
  type InitiateMfaChangeOptions,
  type MfaChangeResult,
  MfaMethod,
  type UserCredentials,
  type VerifyMfaChangeOptions,
  type VerifyMfaChangeResult,
} from './delegation/client.ts';
export type { DelegationClientOptions } from './delegation/config.ts';
export {
  DelegationError,
  type DelegationErrorCode,
  InvalidPublicKeyError,
  type InvalidPublicKeyErrorCode,
  JWTVerificationError,
  type JWTVerificationErrorCode,
  LatchkeyNodeError,
  OAuthExchangeError,
  type OAuthExchangeErrorCode,
} from './error.ts';
export {
  type Claims,
  type ExchangeCodeForClaimsOptions,
  exchangeCodeForClaims,
  exchangeCodeForTokenAndClaims,
  type TokenAndClaims,
} from './exchange.ts';
export {
  createLatchkeyHandlers,
  type LatchkeyHandlers,
  type LatchkeyHandlersOptions,
  type OnSignInRequest,
} from './handlers.ts';
export type { RequestLike } from './incoming.ts';
export { type LogoutClaims, type VerifyLogoutTokenOptions, verifyLogoutToken } from './logout-token.ts';
export {
  createLatchkeyMiddleware,
  type Handler,
  type LatchkeyMiddleware,
  type LatchkeyMiddlewareOptions,
  type OnLogout,
  type OnSignIn,
} from './middleware.ts';
export type { PublicKeyInput } from './public-key.ts';
export type { RelyingPartyOptions } from './relying-party.ts';
export { MemoryReplayStore, type ReplayStore } from './replay-store.ts';
export { type JwtClaims, type VerifyJwtOptions, verifyJwt } from './verify-jwt.ts';
