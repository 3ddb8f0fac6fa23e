import { isApiKey } from '../clients/api-key.ts';
import type { ClientRegistry, JudgedClient, KeyHolder } from '../clients/client-registry.ts';
import { isAllowedOrigin } from '../clients/redirect-uri.ts';
import type { Locale } from '../delivery/locale.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Database } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
import { digest } from '../kernel/secret.ts';
import type { Project } from '../projects/project.entity.ts';
import type { AuthorizationRequest } from './authorization-request.entity.ts';
import type { AuthorizationRequests } from './authorization-requests.ts';

/** The page of an application that takes a step: its credential and its origin were judged. */
export interface JudgedPage extends JudgedClient {
  project: Project;
  /** The request that the hosted page answers; null for a page of the application, by the SDK. */
  request: AuthorizationRequest | null;
  /** As the browser sent it. */
  origin: string;
  /** Of an application's page, which may be cached: every statement that writes for it depends on `currentClient`. */
  key?: JudgedClient['key'];
}

/** A page and its user. */
export interface SigninCaller extends JudgedPage {
  actor: Actor;
  /** The language of messages that this step sends. */
  locale: Locale;
  /** The session cookie that this browser holds for the project; hosted page only. */
  sessionSecret?: string | undefined;
}

/** Authenticates pages. */
export class SigninCallers {
  private readonly issuerOrigin: string;

  constructor(
    private readonly deps: {
      db: Database;
      clients: Pick<ClientRegistry, 'cached' | 'current'>;
      requests: AuthorizationRequests;
      issuer: string;
    },
  ) {
    this.issuerOrigin = new URL(deps.issuer).origin;
  }

  /**
   * An application's page, by the client's publishable key, from an origin of its redirect URIs; perhaps from the cache, see
   * {@link JudgedPage.key}. Refuses `unauthenticated`, and `forbidden` for another origin, or none.
   */
  async byApiKey(apiKey: string, origin: string | undefined): Promise<JudgedPage> {
    const keyHash = digest(apiKey);
    const cached = isApiKey(apiKey) ? await this.deps.clients.cached.byKeyHash(keyHash) : null;
    if (!cached) refuse({ code: 'unauthenticated' });
    const isAllowed = cached.kind === 'publishable' && isAllowedOrigin(cached.client.redirectUris, origin ?? '');
    return pageOf(isAllowed ? cached : await this.deps.clients.current.byKeyHash(keyHash), origin);
  }

  /** The same page as the database has it now. Refuses as {@link byApiKey}. */
  async current(page: JudgedPage): Promise<JudgedPage> {
    return page.key === undefined
      ? page
      : pageOf(await this.deps.clients.current.byKeyHash(page.key.keyHash), page.origin);
  }

  /** The hosted page, by its flow and the flow's cookie, from the issuer's own origin. Refuses `flow-expired`. */
  async byFlow(flow: string, browserSecret: string | undefined, origin: string | undefined): Promise<JudgedPage> {
    if (origin !== this.issuerOrigin) refuse({ code: 'forbidden', reason: 'origin' });
    const request = await this.requestOf(flow, browserSecret);
    if (!request) refuse({ code: 'flow-expired' });
    const [client, project] = [request.client.getEntity(), request.project.getEntity()];
    return { client, project, request, origin };
  }

  /** The request that this browser's flow is about; null where it has none. */
  async requestOf(flow: string, browserSecret: string | undefined): Promise<AuthorizationRequest | null> {
    return browserSecret === undefined ? null : this.deps.requests.find(this.deps.db.reader(), flow, browserSecret);
  }
}

/** The page of a publishable key. Refuses `unauthenticated`, and `forbidden` for an origin that is not the client's. */
function pageOf(holder: KeyHolder | null, origin: string | undefined): JudgedPage {
  if (holder?.kind !== 'publishable') refuse({ code: 'unauthenticated' });
  const { client, kind, keyHash } = holder;
  if (origin === undefined || !isAllowedOrigin(client.redirectUris, origin)) {
    refuse({ code: 'forbidden', reason: 'origin' });
  }
  return { client, project: client.project.getEntity(), request: null, origin, key: { kind, keyHash } };
}
