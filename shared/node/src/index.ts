/** Server library: code exchange, token verification, logout, and delegation of second factors. */
export {
  type ExpressAdapter,
  expressAdapter,
  type FastifyAdapter,
  type FastifyLike,
  type FastifyReplyLike,
  type FastifyRequestLike,
  fastifyAdapter,
  type HonoAdapter,
  type HonoContextLike,
  honoAdapter,
} from './app/adapters.ts';
export { createLatchkey, type Latchkey, type WithSession } from './app/create-latchkey.ts';
export type { ProviderMetadata } from './app/discovery.ts';
export { type NextAdapter, type NextFunctions, nextAdapter } from './app/next.ts';
export type { LatchkeyOptions, SessionOptions } from './app/options.ts';
export type { SessionRequirements } from './app/routes.ts';
export type { ExchangeMore, LogoutUrlOptions } from './app/service.ts';
export type { UserInfo } from './app/user-info.ts';
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
  RelyingPartyError,
  type RelyingPartyErrorCode,
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
export type { SignInRequest } from './hosted-sign-in.ts';
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
export { MemorySessionRevocations, type SessionRevocations } from './session/revocations.ts';
export type { DefaultUser, Session } from './session/sessions.ts';
export { type JwtClaims, type VerifyJwtOptions, verifyJwt } from './verify-jwt.ts';
