import type { EntityManager } from '@mikro-orm/postgresql';
import { matchesRedirectUri } from '../clients/redirect-uri.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { digest } from '../kernel/secret.ts';
import { execute, sql } from '../kernel/sql.ts';
import { AuthorizationRequest } from './authorization-request.entity.ts';

/** How long a person has for the hosted page, all in all. */
export const requestTtlSeconds = 30 * 60;

/** The parameters of a request; fixed from here on. */
export interface NewAuthorizationRequest {
  projectId: string;
  clientId: string;
  redirectUri: string;
  scope: string;
  state?: string | null | undefined;
  nonce?: string | null | undefined;
  codeChallenge: string;
  loginHint?: string | null | undefined;
  /** The user that a valid `id_token_hint` names. */
  hintedUserId?: string | null | undefined;
  uiLocales?: string | null | undefined;
  /** The set-up link whose holder this is. */
  setupLinkId?: string | null | undefined;
  /** Whether a device key alone is not enough (`prompt=login`, `max_age`). */
  personRequired?: boolean | undefined;
}

/** How a request is found again: the address has the handle, the browser's cookie the secret. */
export interface BegunFlow {
  flow: string;
  browserSecret: string;
}

/** Authorization requests that wait for their user. */
export class AuthorizationRequests {
  /** Prefixes of the addresses that only this instance serves. */
  private readonly ownPages: readonly string[];

  constructor(private readonly deps: { clock: Clock; random: Random; issuer: string }) {
    this.ownPages = [`${deps.issuer}/admin/`, `${deps.issuer}/account/`];
  }

  /** Keeps a vetted request for 30 minutes. `browserSecret` belongs into a cookie of this flow alone. */
  async begin(em: EntityManager, input: NewAuthorizationRequest): Promise<BegunFlow> {
    const flow = newSecret(this.deps.random);
    const browserSecret = newSecret(this.deps.random);
    const now = this.deps.clock.now();
    em.persist(
      em.create(AuthorizationRequest, {
        id: this.deps.random.id(),
        project: input.projectId,
        client: input.clientId,
        flowHash: digest(flow),
        browserHash: digest(browserSecret),
        redirectUri: input.redirectUri,
        scope: input.scope,
        state: input.state ?? null,
        nonce: input.nonce ?? null,
        codeChallenge: input.codeChallenge,
        loginHint: input.loginHint ?? null,
        hintedUserId: input.hintedUserId ?? null,
        uiLocales: input.uiLocales ?? null,
        setupLinkId: input.setupLinkId ?? null,
        personRequired: input.personRequired ?? false,
        createdAt: now,
        expiresAt: secondsLater(now, requestTtlSeconds),
      }),
    );
    return { flow, browserSecret };
  }

  /**
   * The request behind a flow, with its project and client; null where it is unknown, of another browser, expired or
   * finished, its client is disabled, or its redirect URI is no longer the client's.
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
    return request && this.mayReturn(request) ? request : null;
  }

  /** The pages of this instance (trials, the set-up link, the account page) are registered with no client. */
  private mayReturn({ client, redirectUri }: AuthorizationRequest): boolean {
    const isOwn = this.ownPages.some((prefix) => redirectUri.startsWith(prefix));
    return isOwn || matchesRedirectUri(client.getEntity().redirectUris, redirectUri);
  }

  /** Single use: true for one caller alone, who then issues the code. */
  async finish(em: EntityManager, id: string): Promise<boolean> {
    const now = this.deps.clock.now();
    const statement = sql`
      update authorization_requests set finished_at = ${now}
      where id = ${id} and finished_at is null and expires_at > ${now}`;
    return (await execute(em, statement, { prepare: 'authorization-requests.finish' })) === 1;
  }

  /** Deletes expired requests. */
  async sweep(em: EntityManager): Promise<void> {
    await execute(em, sql`delete from authorization_requests where expires_at <= ${this.deps.clock.now()}`);
  }
}
