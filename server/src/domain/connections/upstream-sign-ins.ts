import type { EntityManager } from '@mikro-orm/postgresql';
import { compactVerify, createLocalJWKSet, decodeJwt, decodeProtectedHeader } from 'jose';
import type { RemoteKeys } from '../clients/remote-keys.ts';
import { isCompactJws } from '../kernel/base64url.ts';
import { type Clock, seconds, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { inAllProjects } from '../kernel/scope.ts';
import { digest, isUuid } from '../kernel/secret.ts';
import { execute, sql } from '../kernel/sql.ts';
import type { Vault } from '../keys/vault.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { type Connection, connectionSecretPurpose } from './connection.entity.ts';
import { checkComplete } from './connection-settings.ts';
import { claimsFault, headerFault, idTokenAlgorithms, isSubject } from './id-token.ts';
import { presetOf } from './presets.ts';
import type { Providers } from './providers.ts';
import type { CodeToRedeem, Provider, ProviderMetadata, UpstreamClient, UpstreamFault } from './upstream.ts';
import { personOf } from './upstream-person.ts';
import { type UpstreamPerson, UpstreamRequest, upstreamRequestTtlSeconds } from './upstream-request.entity.ts';

const requestPurpose = 'upstream-request';

/** Secrets of a request, stored sealed. The browser returns `state`. */
interface RequestSecrets {
  state: string;
  nonce: string;
  verifier: string;
  /** The handle of the hosted page's flow; '' for a test. */
  flow: string;
}

/** A request, found by the `state` of a callback. */
export interface PendingUpstream {
  request: UpstreamRequest;
  connection: Connection;
  secrets: RequestSecrets;
}

/** A request to a provider for one flow of the hosted page, or for a test. */
export interface NewUpstreamRequest {
  /** The authorization request; null: a test. */
  requestId: string | null;
  flow: string;
  redirectUri: string;
  /** Whether the person must authenticate again. */
  asksPerson: boolean;
  loginHint?: string | null | undefined;
  uiLocales?: string | null | undefined;
}

/** Exchanges with one connection at a time in this process, so that a provider that hangs does not use all sockets. */
const maxConcurrent = 50;
const largestTokenLength = 48 * 1024;

/** Requests to upstream providers, and their answers (OpenID Connect Core section 3.1). */
export class UpstreamSignIns {
  private readonly running = new Map<string, number>();

  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      random: Random;
      vault: Vault;
      remoteKeys: RemoteKeys;
      providers: Providers;
      upstream: UpstreamClient;
    },
  ) {}

  /** Stores a request; the address of the provider for the browser. A fault if the provider cannot be read. */
  async begin(connection: Connection, wanted: NewUpstreamRequest): Promise<{ url: string } | { fault: UpstreamFault }> {
    const metadata = await this.deps.providers.at(connection.settings.issuer);
    if (!metadata) return { fault: 'discovery' };
    const secrets = await this.store(connection, wanted.requestId, wanted.flow);
    return { url: addressOf(metadata, connection, secrets, wanted) };
  }

  /** Stores a request for a test by an admin; its state, with which {@link beginTest} continues. Refuses `invalid`. */
  async prepareTest(connection: Connection): Promise<string> {
    checkComplete(connection.settings);
    return (await this.store(connection, null, '')).state;
  }

  /** The address of the provider for a test. A fault if the provider cannot be read. */
  async beginTest(
    { connection, secrets }: PendingUpstream,
    redirectUri: string,
  ): Promise<{ url: string } | { fault: UpstreamFault }> {
    const metadata = await this.deps.providers.at(connection.settings.issuer);
    if (!metadata) return { fault: 'discovery' };
    return { url: addressOf(metadata, connection, secrets, { redirectUri, asksPerson: false }) };
  }

  private async store(connection: Connection, requestId: string | null, flow: string): Promise<RequestSecrets> {
    const { clock, db, random, vault } = this.deps;
    const [state, nonce, verifier] = [newSecret(random), newSecret(random), newSecret(random)];
    const secrets: RequestSecrets = { state, nonce, verifier, flow };
    const id = random.id();
    const now = clock.now();
    await db.transaction(async (em) => {
      em.persist(
        em.create(UpstreamRequest, {
          id,
          project: connection.project.id,
          connection: [connection.project.id, connection.id],
          requestId,
          stateHash: digest(state),
          sealedSecrets: vault.seal(requestPurpose, id, JSON.stringify(secrets)),
          result: null,
          createdAt: now,
          expiresAt: secondsLater(now, upstreamRequestTtlSeconds),
        } as never),
      );
    });
    return secrets;
  }

  /** The unexpired request of `state` at this connection, used or not; null: none. The caller checks the browser. */
  async find(connectionId: string, state: string): Promise<PendingUpstream | null> {
    if (!isUuid(connectionId)) return null;
    const { db, clock, vault } = this.deps;
    const where = { stateHash: digest(state), expiresAt: { $gt: clock.now() } };
    const request = await inAllProjects(() =>
      db.reader().findOne(UpstreamRequest, where, { populate: ['connection'] }),
    );
    if (!request || request.connection.id !== connectionId) return null;
    const opened = vault.open(requestPurpose, request.id, request.sealedSecrets).toString();
    return { request, connection: request.connection.getEntity(), secrets: JSON.parse(opened) as RequestSecrets };
  }

  /** Takes the request: true for exactly one caller. */
  async take({ project, id }: TenantKey): Promise<boolean> {
    const now = this.deps.clock.now();
    const statement = sql`update upstream_requests set used_at = ${now}
      where project_id = ${project.id} and id = ${id} and used_at is null and expires_at > ${now}`;
    return (await execute(this.deps.db.alone, statement)) === 1;
  }

  /** Exchanges the code of a taken request, outside of any transaction, and checks the answer. */
  async redeem(
    { connection, secrets }: PendingUpstream,
    parameters: URLSearchParams,
    redirectUri: string,
  ): Promise<{ person: UpstreamPerson; claims: Record<string, unknown> } | { fault: UpstreamFault }> {
    const error = parameters.get('error');
    if (error !== null) return { fault: endedByPerson.includes(error) ? 'denied' : 'provider-error' };
    const metadata = await this.deps.providers.at(connection.settings.issuer);
    if (!metadata) return { fault: 'discovery' };
    const { id, sealedSecret, settings } = connection;
    const secret = sealedSecret ? this.deps.vault.open(connectionSecretPurpose, id, sealedSecret).toString() : null;
    const provider = { metadata, clientId: settings.clientId, secret };
    const { state, nonce, verifier } = secrets;
    const code = { redirectUri, parameters, state, nonce, verifier, now: this.deps.clock.now() };
    const running = this.running.get(id) ?? 0;
    if (running >= maxConcurrent) return { fault: 'busy' };
    this.running.set(id, running + 1);
    try {
      return await this.exchange(connection, provider, code);
    } finally {
      const left = (this.running.get(id) ?? 1) - 1;
      if (left > 0) this.running.set(id, left);
      else this.running.delete(id);
    }
  }

  private async exchange(connection: Connection, provider: Provider, code: CodeToRedeem) {
    const { upstream } = this.deps;
    const { clientId, hostedDomain, issuer, scopes } = connection.settings;
    const tokens = await upstream.redeem(provider, code);
    if ('fault' in tokens) return tokens;
    const verified = await this.verified(tokens.idToken, provider);
    if ('fault' in verified) return verified;
    const nowSeconds = seconds(this.deps.clock.now());
    const fault = claimsFault(verified.claims, { issuer, clientId, hostedDomain, nonce: code.nonce, nowSeconds });
    if (fault) return { fault };
    const subject = verified.claims['sub'];
    if (!isSubject(subject)) return { fault: 'subject' as const };
    // Some providers put the address only there.
    const lacks = scopes.includes('email') && verified.claims['email'] === undefined;
    const more =
      lacks && provider.metadata.userInfoEndpoint !== null
        ? await upstream.userInfo(provider, tokens.accessToken, subject)
        : { claims: {} };
    if ('fault' in more) return more;
    if ('sub' in more.claims && more.claims['sub'] !== subject) return { fault: 'userinfo' as const };
    // Signed claims take precedence.
    const claims = { ...more.claims, ...verified.claims };
    const person = personOf(claims, { issuer, subject, mappings: connection.mappings });
    const { vouchesForEmail } = presetOf(connection.preset);
    return { person: { ...person, emailVerified: person.emailVerified && vouchesForEmail }, claims };
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

  /** Stores the verified response with its request: for a test, or until an account is proved. */
  keep(em: EntityManager, request: UpstreamRequest, person: UpstreamPerson): Promise<number> {
    const statement = sql`update upstream_requests set result = ${JSON.stringify(person)}::jsonb
      where project_id = ${request.project.id} and id = ${request.id} and result is null`;
    return execute(em, statement);
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
  { settings: { clientId, hostedDomain, scopes } }: Connection,
  { state, nonce, verifier }: RequestSecrets,
  wanted: Pick<NewUpstreamRequest, 'redirectUri' | 'asksPerson' | 'loginHint' | 'uiLocales'>,
): string {
  const url = new URL(authorizationEndpoint);
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: wanted.redirectUri,
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
