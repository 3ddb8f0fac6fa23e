import { type Claims, checkExchange, exchangeAuthenticated, type TokenAndClaims, verifyIdToken } from '../exchange.ts';
import type { VerifyLogoutTokenOptions } from '../logout-token.ts';
import { supportedAlgorithms } from '../public-key.ts';
import { keySource } from '../verify-jwt.ts';
import { authenticatorOf } from './authentication.ts';
import { Discovery, type ProviderMetadata } from './discovery.ts';
import type { LatchkeyOptions } from './options.ts';
import { readUserInfo, type UserInfo } from './user-info.ts';

export interface ExchangeMore {
  /** PKCE verifier, if the page sent a challenge (RFC 7636). */
  codeVerifier?: string;
  /** For a code of the hosted page. */
  redirectUri?: string;
  /** The nonce of the authorization request. */
  nonce?: string;
}

export interface LogoutUrlOptions {
  /** ID token of the session: without it, the service asks the user to confirm. */
  idToken?: string | undefined;
  /** As registered. Default: `postLogoutRedirectUri`. */
  returnTo?: string | undefined;
  state?: string;
}

/** The service, at the addresses of its discovery document. */
export class Service {
  private readonly options: LatchkeyOptions<unknown>;
  private readonly document: Discovery;
  private readonly authenticate: ReturnType<typeof authenticatorOf>;

  /** Throws `OAuthExchangeError` for an unusable private key. */
  constructor(options: LatchkeyOptions<unknown>) {
    this.options = options;
    this.authenticate = authenticatorOf(options);
    this.document = new Discovery(options.issuer, options.allowInsecureHttp ?? false);
  }

  discovery(): Promise<ProviderMetadata> {
    return this.document.read();
  }

  async exchange(code: string, { codeVerifier, nonce, redirectUri }: ExchangeMore = {}): Promise<TokenAndClaims> {
    const options = {
      ...(await this.trust()),
      ...(codeVerifier !== undefined && { codeVerifier }),
      ...(nonce !== undefined && { nonce }),
      ...(redirectUri !== undefined && { redirectUri }),
      oauthTokenUrl: (await this.discovery()).token_endpoint,
      code,
    };
    checkExchange(options);
    return exchangeAuthenticated(options, await this.authenticate());
  }

  async verifyIdToken(idToken: string, { nonce }: { nonce?: string } = {}): Promise<Claims> {
    const trust = await this.trust();
    return verifyIdToken(idToken, await keySource(trust), nonce === undefined ? trust : { ...trust, nonce });
  }

  async getUserInfo(accessToken: string, sub: string): Promise<UserInfo> {
    const { allowInsecureHttp = false } = this.options;
    return readUserInfo((await this.discovery()).userinfo_endpoint, { accessToken, sub, allowInsecureHttp });
  }

  async logoutUrl({ idToken, returnTo, state }: LogoutUrlOptions = {}): Promise<string> {
    const url = new URL((await this.discovery()).end_session_endpoint);
    const { clientId, postLogoutRedirectUri } = this.options;
    const target = returnTo ?? postLogoutRedirectUri;
    url.searchParams.set('client_id', clientId);
    if (idToken !== undefined) url.searchParams.set('id_token_hint', idToken);
    if (target !== undefined) url.searchParams.set('post_logout_redirect_uri', target);
    if (state !== undefined) url.searchParams.set('state', state);
    return url.href;
  }

  /** Trusted keys, algorithms and names. The keys decide between the algorithms; none of them is symmetric. */
  async trust(): Promise<VerifyLogoutTokenOptions> {
    const { allowInsecureHttp = false, clientId, issuer, leeway, algorithms } = this.options;
    const { id_token_signing_alg_values_supported: offered, jwks_uri: jwksUrl } = await this.discovery();
    return {
      ...{ allowInsecureHttp, clientId, issuer, jwksUrl },
      algorithms: algorithms ?? offered.filter((alg) => supportedAlgorithms.includes(alg)),
      ...(leeway !== undefined && { leeway }),
    };
  }
}
