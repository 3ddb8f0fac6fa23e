import type { EntityManager } from '@mikro-orm/postgresql';
import type { Client } from '../../clients/client.entity.ts';
import type { ClientRegistry, ClientVersion } from '../../clients/client-registry.ts';
import { isReturnable, matchesRedirectUri, startOf } from '../../clients/redirect-uri.ts';
import { type Clock, secondsLater } from '../../kernel/clock.ts';
import { type ResponseMode } from '../../kernel/openid.ts';
import { newSecret, type Random } from '../../kernel/random.ts';
import { digest } from '../../kernel/secret.ts';
import { columnsOf, type Executing, execute, query, sql } from '../../kernel/sql.ts';
import type { AcrRequest } from '../../policy/acr.ts';
import { mayOmitPkce, needsPush } from '../../policy/client.ts';
import { siteOf } from '../../projects/site.ts';
import type { TenantKey } from '../../projects/tenant.ts';
import { AuthorizationRequest } from './authorization-request.entity.ts';

/** Lifetime of a flow of the hosted page. */
export const requestTtlSeconds = 30 * 60;
/** A request that has expired unfinished can begin again for this long, in the same browser: over a night. */
export const renewableSeconds = 12 * 3600;

/** The parameters of a request; immutable. */
export interface NewAuthorizationRequest {
  projectId: string;
  clientId: string;
  /** See `storedIssuer`; absent: the base issuer. */
  issuer?: string | null | undefined;
  redirectUri: string;
  /** Identifiers of APIs (RFC 8707). Absent: none. */
  resources?: readonly string[] | undefined;
  scope: string;
  state?: string | null | undefined;
  nonce?: string | null | undefined;
  codeChallenge: string | undefined;
  /** Thumbprint of the DPoP key that must redeem the code. */
  dpopJkt?: string | undefined;
  /** Absent: `query`. */
  responseMode?: ResponseMode | undefined;
  loginHint?: string | null | undefined;
  /** The user that a valid `id_token_hint` names. */
  hintedUserId?: string | null | undefined;
  uiLocales?: string | null | undefined;
  /** The setup link that started the request. */
  setupLinkId?: string | null | undefined;
  /** The device whose user signs in. */
  deviceAuthorizationId?: string | undefined;
  /** Whether a device key alone is insufficient (`prompt=login`, `max_age`). */
  personRequired?: boolean | undefined;
  /** Whether the sign-in is to add a passkey (account page). */
  addsPasskey?: boolean | undefined;
  /** Whether the sign-in is to begin an authenticator app, for the session (account page). */
  addsAuthenticator?: boolean | undefined;
  acr?: AcrRequest | undefined;
  /** The organization that it names; null: none. */
  organizationId?: string | null | undefined;
  /** The session that meets the request; absent: a sign-in is needed. */
  sessionId?: string | undefined;
  asksConsent?: boolean | undefined;
  /** See {@link AuthorizationRequests.renew}; absent: false. */
  renewable?: boolean | undefined;
}

/** Identifies a request: the handle is in the URL, the secret in the browser's cookie. */
export interface BegunFlow {
  /** Of the stored request. */
  id: string;
  flow: string;
  browserSecret: string;
}

/** Pending authorization requests. */
export class AuthorizationRequests {
  constructor(private readonly deps: { clock: Clock; random: Random; issuer: string }) {}

  /** Stores a validated request for 30 minutes. `browserSecret` goes into a cookie of this flow only. */
  async begin(on: Executing, input: NewAuthorizationRequest): Promise<BegunFlow> {
    const flow = newSecret(this.deps.random);
    const browserSecret = newSecret(this.deps.random);
    const now = this.deps.clock.now();
    const id = this.deps.random.id();
    const { acr } = input;
    await execute(
      on,
      sql`insert into authorization_requests (project_id, id, client_id, flow_hash, browser_hash, issuer, redirect_uri, resources,
          scope, state, nonce, code_challenge, dpop_jkt, response_mode, login_hint, hinted_user_id, ui_locales, setup_link_id,
          device_authorization_id, person_required, adds_passkey, adds_authenticator, acr_values, acr_essential, organization_id,
          session_id, asks_consent, renewable, created_at, expires_at)
        values (${input.projectId}::uuid, ${id}::uuid, ${input.clientId}::uuid, ${digest(flow)}, ${digest(browserSecret)},
          ${input.issuer ?? null}, ${input.redirectUri}, ${[...(input.resources ?? [])]}::text[], ${input.scope}, ${input.state ?? null},
          ${input.nonce ?? null}, ${input.codeChallenge ?? null}, ${input.dpopJkt ?? null}, ${input.responseMode ?? null},
          ${input.loginHint ?? null}, ${input.hintedUserId ?? null}::uuid, ${input.uiLocales ?? null}, ${input.setupLinkId ?? null}::uuid,
          ${input.deviceAuthorizationId ?? null}::uuid, ${input.personRequired ?? false}, ${input.addsPasskey ?? false},
          ${input.addsAuthenticator ?? false}, ${acr ? [...acr.values] : null}::text[], ${acr?.essential ?? false},
          ${input.organizationId ?? null}::uuid, ${input.sessionId ?? null}::uuid, ${input.asksConsent ?? false},
          ${input.renewable ?? false}, ${now}::timestamptz, ${secondsLater(now, requestTtlSeconds)}::timestamptz)`,
      { prepare: 'authorization-requests.begin' },
    );
    return { id, flow, browserSecret };
  }

  /**
   * The request of a flow, with its project and client; null if it is unknown, of another browser, expired or finished,
   * its client is disabled, or its redirect URI is no longer registered.
   */
  async find(em: EntityManager, flow: string, browserSecret: string): Promise<AuthorizationRequest | null> {
    const request = await em.findOne(
      AuthorizationRequest,
      {
        flowHash: digest(flow),
        browserHash: digest(browserSecret),
        finishedAt: null,
        expiresAt: { $gt: this.deps.clock.now() },
        client: { disabledAt: null },
      },
      { populate: ['project', 'client'] },
    );
    return request && this.mayReturn(request, request.client.getEntity()) ? request : null;
  }

  /** Like {@link find} by one prepared statement, with the client as it is now, possibly cached: each step of the hosted page reads it. */
  async findOfPage(
    em: EntityManager,
    clients: Pick<ClientRegistry, 'ofVersion'>,
    flow: string,
    browserSecret: string,
  ): Promise<{ request: AuthorizationRequest; client: Client } | null> {
    const [row] = await query(
      em,
      sql<ClientVersion>`select ${columnsOf(em, AuthorizationRequest)}, k.version, p.version as project_version
        from authorization_requests c join clients k on k.project_id = c.project_id and k.id = c.client_id
          join projects p on p.id = c.project_id
        where c.flow_hash = ${digest(flow)} and c.browser_hash = ${digest(browserSecret)} and c.finished_at is null
          and c.expires_at > ${this.deps.clock.now()}::timestamptz and k.disabled_at is null`,
      { prepare: 'authorization-requests.of-page' },
    );
    const client = row ? await clients.ofVersion(row) : null;
    if (!row || !client) return null;
    const { version: _, project_version: __, ...columns } = row;
    const request = em.map(AuthorizationRequest, columns);
    return this.mayReturn(request, client) ? { request, client } : null;
  }

  /** Pages of this instance (trials, the setup link, the account page, devices) are not registered with any client. */
  private mayReturn(request: AuthorizationRequest, client: Client): boolean {
    const { redirectUri, deviceAuthorizationId } = request;
    const isConsole = redirectUri.startsWith(`${this.deps.issuer}/admin/`);
    const isOwn = deviceAuthorizationId != null || isConsole || this.isConfirmation(request);
    return isOwn || matchesRedirectUri(client.redirectUris, redirectUri);
  }

  /** The request of a flow, ended or of another browser: for its client, never to continue it. Null: unknown. */
  async known(em: EntityManager, flow: string): Promise<AuthorizationRequest | null> {
    const where = { flowHash: digest(flow), client: { disabledAt: null } };
    return em.findOne(AuthorizationRequest, where, { populate: ['project', 'client'] });
  }

  /**
   * The request of this browser's flow that has expired, unfinished, and may begin again; null as by {@link find}, and if it
   * was pushed, is a page's of this instance, or expired more than {@link renewableSeconds} ago. The client must still accept it.
   */
  async expired(em: EntityManager, flow: string, browserSecret: string): Promise<AuthorizationRequest | null> {
    const now = this.deps.clock.now();
    const request = await em.findOne(
      AuthorizationRequest,
      {
        flowHash: digest(flow),
        browserHash: digest(browserSecret),
        renewable: true,
        finishedAt: null,
        expiresAt: { $lte: now, $gt: secondsLater(now, -renewableSeconds) },
        client: { disabledAt: null },
      },
      { populate: ['project', 'client'] },
    );
    return request && this.mayReturn(request, request.client.getEntity()) && isAcceptable(request) ? request : null;
  }

  /**
   * Stores an {@link expired} request as a new one, and finishes it; null if it is finished already. The new one asks for a
   * sign-in after it, and for another answer to the consent page.
   */
  async renew(on: Executing, request: AuthorizationRequest): Promise<BegunFlow | null> {
    const { acrValues, codeChallenge, dpopJkt, responseMode, uiLocales } = request;
    const statement = sql`update authorization_requests set finished_at = ${this.deps.clock.now()}
      where project_id = ${request.project.id} and id = ${request.id} and finished_at is null`;
    if ((await execute(on, statement)) !== 1) return null;
    return this.begin(on, {
      projectId: request.project.id,
      clientId: request.client.id,
      issuer: request.issuer,
      redirectUri: request.redirectUri,
      resources: request.resources,
      scope: request.scope,
      state: request.state,
      nonce: request.nonce,
      codeChallenge: codeChallenge ?? undefined,
      dpopJkt: dpopJkt ?? undefined,
      responseMode: responseMode ?? undefined,
      loginHint: request.loginHint,
      hintedUserId: request.hintedUserId,
      uiLocales,
      personRequired: request.personRequired,
      acr: acrValues ? { values: acrValues, essential: request.acrEssential } : undefined,
      organizationId: request.organizationChosenBy == null ? request.organizationId : null,
      asksConsent: request.asksConsent,
      renewable: true,
    });
  }

  /**
   * Where the user of a request can start again: the start address of the client, the origin of a registered redirect URI, or the
   * page of this instance that made the request. Null: a device, or the port that a native app listened on.
   */
  startOf(request: AuthorizationRequest): string | null {
    const { client, redirectUri, deviceAuthorizationId, issuer } = request;
    if (deviceAuthorizationId != null) return null;
    if (this.isConfirmation(request)) return `${siteOf(this.deps.issuer, issuer).origin}/account`;
    if (redirectUri.startsWith(`${this.deps.issuer}/admin/`)) return `${this.deps.issuer}/admin/`;
    const { redirectUris, startUri } = client.getEntity();
    if (startUri != null) return startOf({ startUri, redirectUris });
    const { origin } = new URL(redirectUri);
    return redirectUris.some((uri) => isReturnable(uri) && new URL(uri).origin === origin) ? `${origin}/` : null;
  }

  /** Stores the user's answer to the consent page, until the request is finished. False if it is finished. */
  async decide(em: EntityManager, { project, id }: TenantKey, userId: string, isAllowed: boolean): Promise<boolean> {
    const statement = sql`update authorization_requests set decided_by = ${userId}, is_allowed = ${isAllowed}
      where project_id = ${project.id} and id = ${id} and finished_at is null`;
    return (await execute(em, statement)) === 1;
  }

  /** Whether the request only confirms the user to the account page, which gets no code. */
  isConfirmation({ issuer, redirectUri }: Pick<AuthorizationRequest, 'issuer' | 'redirectUri'>): boolean {
    return redirectUri.startsWith(`${siteOf(this.deps.issuer, issuer).origin}/account/`);
  }

  /** Single use: true for exactly one caller, who then issues the code. */
  async finish(em: EntityManager, { project, id }: TenantKey): Promise<boolean> {
    const now = this.deps.clock.now();
    const statement = sql`
      update authorization_requests set finished_at = ${now}
      where project_id = ${project.id} and id = ${id} and finished_at is null and expires_at > ${now}`;
    return (await execute(em, statement, { prepare: 'authorization-requests.finish' })) === 1;
  }
}

/** Whether the client's current settings allow a request without PAR and, if it has no code challenge, without PKCE. */
function isAcceptable({ client, codeChallenge }: AuthorizationRequest): boolean {
  const current = client.getEntity();
  return !needsPush(current) && (codeChallenge != null || mayOmitPkce(current));
}
