import { compactVerify, createLocalJWKSet, decodeJwt, decodeProtectedHeader } from 'jose';
import type { RemoteKeys } from '../../clients/remote-keys.ts';
import { isCompactJws } from '../../kernel/base64url.ts';
import { type Clock, seconds } from '../../kernel/clock.ts';
import { digest } from '../../kernel/secret.ts';
import type { Vault } from '../../keys/vault.ts';
import { type Connection, connectionSecretPurpose, type OidcSettings, settingsOf } from '../connection.entity.ts';
import { presetOf } from '../presets.ts';
import type {
  CodeToRedeem,
  PendingUpstream,
  Provider,
  ProviderAnswer,
  ProviderMetadata,
  ReadAnswer,
  RejectedToken,
  RequestSecrets,
  UpstreamClient,
  UpstreamFault,
  UpstreamProtocol,
  VerifiedAnswer,
  WantedSignIn,
} from '../upstream.ts';
import { groupsIn, personOf } from '../upstream-person.ts';
import { claimsFault, headerFault, idTokenAlgorithms, isSubject } from './id-token.ts';
import { oidcReport } from './oidc-report.ts';
import type { Providers } from './providers.ts';

/** Exchanges with one connection at a time in this process, so that a provider that hangs does not use all sockets. */
const maxConcurrent = 50;
const largestTokenLength = 48 * 1024;

/** OpenID Connect: authorization code flow with PKCE (Core section 3.1). */
export class OidcProtocol implements UpstreamProtocol {
  private readonly running = new Map<string, number>();

  constructor(
    private readonly deps: {
      clock: Clock;
      vault: Vault;
      remoteKeys: RemoteKeys;
      providers: Providers;
      upstream: UpstreamClient;
    },
  ) {}

  async address(connection: Connection, secrets: RequestSecrets, wanted: WantedSignIn) {
    const settings = settingsOf(connection, 'oidc');
    const metadata = await this.deps.providers.at(settings.issuer);
    return metadata ? { url: addressOf(metadata, settings, secrets, wanted) } : { fault: 'discovery' as const };
  }

  /** Exchanges the code, and checks the ID token. */
  async read(
    { connection, request, secrets }: PendingUpstream,
    { parameters, answerUrl }: ProviderAnswer,
  ): Promise<ReadAnswer> {
    const error = parameters.get('error');
    if (error !== null) return { fault: endedByPerson.includes(error) ? 'denied' : 'provider-error' };
    const { id, sealedSecret } = connection;
    const settings = settingsOf(connection, 'oidc');
    const metadata = await this.deps.providers.at(settings.issuer);
    if (!metadata) return { fault: 'discovery' };
    const secret = sealedSecret ? this.deps.vault.open(connectionSecretPurpose, id, sealedSecret).toString() : null;
    const provider = { metadata, clientId: settings.clientId, secret };
    const { state, nonce, verifier } = secrets;
    const code = { redirectUri: answerUrl, parameters, state, nonce, verifier, now: this.deps.clock.now() };
    const running = this.running.get(id) ?? 0;
    if (running >= maxConcurrent) return { fault: 'busy' };
    this.running.set(id, running + 1);
    try {
      const answer = await this.exchange(connection, provider, code);
      const claims = request.requestId === null ? answer.claims : undefined;
      return claims ? { ...answer, report: oidcReport(claims, { ...settings, nonce, now: code.now }) } : answer;
    } finally {
      const left = (this.running.get(id) ?? 1) - 1;
      if (left > 0) this.running.set(id, left);
      else this.running.delete(id);
    }
  }

  private async exchange(
    connection: Connection,
    provider: Provider,
    code: CodeToRedeem,
  ): Promise<VerifiedAnswer | RejectedToken> {
    const { upstream } = this.deps;
    const { clientId, hostedDomain, issuer, scopes } = settingsOf(connection, 'oidc');
    const tokens = await upstream.redeem(provider, code);
    if ('fault' in tokens) return tokens;
    const verified = await this.verified(tokens.idToken, provider);
    if ('fault' in verified) return verified;
    const nowSeconds = seconds(this.deps.clock.now());
    const fault = claimsFault(verified.claims, { issuer, clientId, hostedDomain, nonce: code.nonce, nowSeconds });
    if (fault) return { fault, claims: verified.claims };
    const subject = verified.claims['sub'];
    if (!isSubject(subject)) return { fault: 'subject', claims: verified.claims };
    // Some providers put the address only there.
    const lacks = scopes.includes('email') && verified.claims['email'] === undefined;
    const more =
      lacks && provider.metadata.userInfoEndpoint !== null
        ? await upstream.userInfo(provider, tokens.accessToken, subject)
        : { claims: {} };
    if ('fault' in more) return { ...more, claims: verified.claims };
    if ('sub' in more.claims && more.claims['sub'] !== subject) return { fault: 'userinfo', claims: verified.claims };
    // Signed claims take precedence.
    const claims = { ...more.claims, ...verified.claims };
    const person = personOf(claims, { issuer, subject, mappings: connection.mappings });
    const { vouchesForEmail } = presetOf(connection.preset);
    const { claim } = connection.roleMappings ?? {};
    const groups = claim !== undefined && Object.hasOwn(claims, claim) ? groupsIn(claims[claim]) : {};
    return { person: { ...person, ...groups, emailVerified: person.emailVerified && vouchesForEmail }, claims };
  }

  /** The claims of an ID token that a key of the provider has signed. */
  private async verified(
    idToken: string,
    { metadata }: Provider,
  ): Promise<{ claims: Record<string, unknown> } | { fault: UpstreamFault }> {
    if (idToken.length > largestTokenLength || !isCompactJws(idToken)) return { fault: 'signature' };
    try {
      const header = decodeProtectedHeader(idToken);
      const fault = headerFault(header as Record<string, unknown>);
      if (fault) return { fault };
      const keys = await this.deps.remoteKeys.at(metadata.jwksUri, header.kid);
      if (!keys) return { fault: 'unreachable' };
      await compactVerify(idToken, createLocalJWKSet({ keys }), { algorithms: [...idTokenAlgorithms] });
      return { claims: decodeJwt(idToken) };
    } catch {
      return { fault: 'signature' };
    }
  }
}

/** `error` of a person who refused or left (RFC 6749 section 4.1.2.1; OpenID Connect Core section 3.1.2.6). */
const endedByPerson: readonly string[] = [
  'access_denied',
  'login_required',
  'consent_required',
  'interaction_required',
];

/** The authentication request (OpenID Connect Core section 3.1.2.1). */
function addressOf(
  { authorizationEndpoint }: ProviderMetadata,
  { clientId, hostedDomain, scopes }: OidcSettings,
  { state, nonce, verifier }: RequestSecrets,
  wanted: WantedSignIn,
): string {
  const url = new URL(authorizationEndpoint);
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: wanted.answerUrl,
    scope: scopes.join(' '),
    state,
    nonce,
    code_challenge: digest(verifier),
    code_challenge_method: 'S256',
    ...(wanted.asksPerson && { prompt: 'login', max_age: '0' }),
    ...(wanted.loginHint && { login_hint: wanted.loginHint }),
    ...(wanted.uiLocales && { ui_locales: wanted.uiLocales }),
    ...(hostedDomain !== null && { hd: hostedDomain }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}
