import { isApiKey } from '../clients/api-key.ts';
import type { CheckedClient, ClientRegistry, KeyHolder } from '../clients/client-registry.ts';
import { isAllowedOrigin } from '../clients/redirect-uri.ts';
import { type Excused, excusedIn } from '../connections/realms.ts';
import type { Locale } from '../delivery/locale.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
import { inAllProjects, openProject } from '../kernel/scope.ts';
import { digest } from '../kernel/secret.ts';
import { organizationPolicyOf } from '../organizations/organization-policy.ts';
import type { OrganizationPolicy } from '../policy/organization.ts';
import type { Project } from '../projects/project.entity.ts';
import { type Site, siteOf } from '../projects/site.ts';
import type { AuthorizationRequest } from './requests/authorization-request.entity.ts';
import type { AuthorizationRequests } from './requests/authorization-requests.ts';

/** A page that takes a step; its credential and origin have been checked. */
export interface CheckedPage extends CheckedClient {
  project: Project;
  /** The hosted page's request; null for an application's own page (SDK). */
  request: AuthorizationRequest | null;
  /** The rules of the request's organization; null: none. */
  organization: OrganizationPolicy | null;
  /** The organizations whose connection needs no answer in this flow; absent: none. */
  excused?: Excused;
  /** The `Origin` header. */
  origin: string;
  /** Set for an application's page, which may be cached: every statement that writes for it checks `currentClient`. */
  key?: CheckedClient['key'];
}

/** A page and its browser. */
export interface SigninCaller extends CheckedPage {
  actor: Actor;
  /** The language of messages that this step sends. */
  locale: Locale;
  /** The browser's session cookie for the project; hosted page only. */
  sessionSecret?: string | undefined;
}

/** The caller in a step of a sign-in, whose id the audit events get. */
export function inSignIn(caller: SigninCaller, signInId: string): SigninCaller {
  return { ...caller, actor: { ...caller.actor, signInId } };
}

/** Authenticates pages. */
export class SigninCallers {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      clients: Pick<ClientRegistry, 'cached' | 'current' | 'ofVersion'>;
      requests: AuthorizationRequests;
      issuer: string;
    },
  ) {}

  /**
   * An application's page, by the client's publishable key and an origin of its redirect URIs; may come from the cache,
   * see {@link CheckedPage.key}. Refuses like {@link pageOf}.
   */
  async byApiKey(apiKey: string, origin: string | undefined): Promise<CheckedPage> {
    const keyHash = digest(apiKey);
    const cached = isApiKey(apiKey) ? await this.deps.clients.cached.byKeyHash(keyHash) : null;
    if (!cached) refuse({ code: 'unauthenticated' });
    const { client, kind } = cached;
    const isAllowed =
      kind === 'publishable' && isAllowedOrigin(client.redirectUris, origin ?? '') && !client.thirdParty;
    return pageOf(isAllowed ? cached : await this.deps.clients.current.byKeyHash(keyHash), origin);
  }

  /** Reloads the page from the database. Refuses like {@link byApiKey}. */
  async current(page: CheckedPage): Promise<CheckedPage> {
    return page.key === undefined
      ? page
      : pageOf(await this.deps.clients.current.byKeyHash(page.key.keyHash), page.origin);
  }

  /**
   * The hosted page, by its flow, the flow's cookie and the origin of the site, which the request's issuer must have.
   * Refuses `forbidden`, `flow-expired`.
   */
  async byFlow(
    flow: string,
    browserSecret: string | undefined,
    { origin, site }: { origin: string | undefined; site: Pick<Site, 'origin'> },
  ): Promise<CheckedPage> {
    if (origin !== site.origin) refuse({ code: 'forbidden', reason: 'origin' });
    const { clients, db, requests } = this.deps;
    const found =
      browserSecret === undefined
        ? null
        : await inAllProjects(() => requests.findOfPage(db.reader(), clients, flow, browserSecret));
    if (!found || !this.isAt(site, found.request)) refuse({ code: 'flow-expired' });
    const { client, request } = found;
    openProject(client.project.id);
    const organization = await organizationPolicyOf(db.alone, client.project.id, request.organizationId);
    const excused = await excusedIn(db.alone, request, this.deps.clock.now());
    return { client, project: client.project.getEntity(), request, organization, excused, origin };
  }

  /** The request of this browser's flow; null if there is none, or its issuer has another site. */
  async requestOf(
    flow: string,
    browserSecret: string | undefined,
    site: Pick<Site, 'origin'>,
  ): Promise<AuthorizationRequest | null> {
    if (browserSecret === undefined) return null;
    const request = await inAllProjects(() => this.deps.requests.find(this.deps.db.reader(), flow, browserSecret));
    if (!request || !this.isAt(site, request)) return null;
    openProject(request.project.id);
    return request;
  }

  private isAt({ origin }: Pick<Site, 'origin'>, { issuer }: AuthorizationRequest): boolean {
    return siteOf(this.deps.issuer, issuer).origin === origin;
  }
}

/**
 * The page of a publishable key. Refuses `unauthenticated`, `forbidden` for a foreign origin, and `hosted-page-required`:
 * only the hosted page asks users for their consent.
 */
function pageOf(holder: KeyHolder | null, origin: string | undefined): CheckedPage {
  if (holder?.kind !== 'publishable') refuse({ code: 'unauthenticated' });
  const { client, kind, keyHash } = holder;
  if (origin === undefined || !isAllowedOrigin(client.redirectUris, origin)) {
    refuse({ code: 'forbidden', reason: 'origin' });
  }
  if (client.thirdParty) refuse({ code: 'hosted-page-required' });
  return {
    client,
    project: client.project.getEntity(),
    request: null,
    organization: null,
    origin,
    key: { kind, keyHash },
  };
}
