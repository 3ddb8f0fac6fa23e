import { isApiKey } from '../clients/api-key.ts';
import type { Client } from '../clients/client.entity.ts';
import type { ClientRegistry, KeyHolder } from '../clients/client-registry.ts';
import { isAllowedOrigin } from '../clients/redirect-uri.ts';
import type { Locale } from '../delivery/locale.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Database } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
import { digest } from '../kernel/secret.ts';
import type { Project } from '../projects/project.entity.ts';
import type { AuthorizationRequest } from './authorization-request.entity.ts';
import type { AuthorizationRequests } from './authorization-requests.ts';

/** Which page of which application takes a step: its credential and its origin were judged. */
export interface Page {
  client: Client;
  project: Project;
  /** The request that the hosted page answers; null for a page of the application, by the SDK. */
  request: AuthorizationRequest | null;
  /** As the browser sent it. */
  origin: string;
  /** Of an application's page: it may only be remembered, so nothing is granted to it but as this says. */
  remembered?: Remembered | undefined;
}

/** A page that grants nothing by itself (decisions/0080): what is written for it has {@link stillHolds} in its `where`. */
interface Remembered {
  /** SHA-256 of the API key. */
  keyHash: string;
  /** The same page on rows that are read now, for all that no such statement does. Refuses as `byApiKey`. */
  judgeAnew(): Promise<Page>;
}

/** SQL: the key that let a remembered page in is live, and its client and project are as they are remembered. */
export const stillHolds = `exists (
    select from api_keys a join clients k on k.id = a.client_id join projects p on p.id = k.project_id
    where a.hash = ? and a.kind = 'publishable' and a.revoked_at is null
      and k.id = ?::uuid and k.disabled_at is null and k.version = ?::int and p.version = ?::int)`;

export function stillHoldsParameters({ client, project }: Page, { keyHash }: Remembered): unknown[] {
  return [keyHash, client.id, client.version, project.version];
}

/** A page, and who is in front of it. */
export interface Caller extends Page {
  actor: Actor;
  /** The language of messages that this step sends. */
  locale: Locale;
  /** The session cookie that this browser holds for the project; hosted page only. */
  sessionSecret?: string | undefined;
}

/** Tells pages by their credential. */
export class Callers {
  private readonly db: Database;
  private readonly clients: Pick<ClientRegistry, 'cached' | 'current'>;
  private readonly requests: AuthorizationRequests;
  private readonly issuerOrigin: string;

  constructor(
    db: Database,
    clients: Pick<ClientRegistry, 'cached' | 'current'>,
    requests: AuthorizationRequests,
    issuer: string,
  ) {
    this.db = db;
    this.clients = clients;
    this.requests = requests;
    this.issuerOrigin = new URL(issuer).origin;
  }

  /**
   * An application's page, by the client's publishable key, from an origin of its redirect URIs; perhaps from memory,
   * see {@link Page.remembered}. Refuses `unauthenticated`, and `forbidden` for another origin, or none.
   */
  async byApiKey(apiKey: string, origin: string | undefined): Promise<Page> {
    if (!isApiKey(apiKey)) refuse({ code: 'unauthenticated' });
    const keyHash = digest(apiKey);
    const cached = await this.clients.cached.byKeyHash(keyHash);
    if (!cached) refuse({ code: 'unauthenticated' });
    const judgeAnew = async () => pageOf(await this.clients.current.byKeyHash(keyHash), origin);
    if (cached.kind !== 'publishable' || !isAllowedOrigin(cached.client.redirectUris, origin ?? '')) return judgeAnew();
    return { ...pageOf(cached, origin), remembered: { keyHash, judgeAnew } };
  }

  /** The hosted page, by its flow and the flow's cookie, from the issuer's own origin. Refuses `flow-expired`. */
  async byFlow(flow: string, browserSecret: string | undefined, origin: string | undefined): Promise<Page> {
    if (origin !== this.issuerOrigin) refuse({ code: 'forbidden', reason: 'origin' });
    const request = await this.requestOf(flow, browserSecret);
    if (!request) refuse({ code: 'flow-expired' });
    const [client, project] = [request.client.getEntity(), request.project.getEntity()];
    return { client, project, request, origin };
  }

  /** The request that this browser's flow is about; null where it has none. */
  async requestOf(flow: string, browserSecret: string | undefined): Promise<AuthorizationRequest | null> {
    return browserSecret === undefined ? null : this.requests.find(this.db.reader(), flow, browserSecret);
  }
}

/** The page of a publishable key. Refuses `unauthenticated`, and `forbidden` for an origin that is not the client's. */
function pageOf(holder: KeyHolder | null, origin: string | undefined): Page {
  if (holder?.kind !== 'publishable') refuse({ code: 'unauthenticated' });
  const { client } = holder;
  if (origin === undefined || !isAllowedOrigin(client.redirectUris, origin)) {
    refuse({ code: 'forbidden', reason: 'origin' });
  }
  return { client, project: client.project.getEntity(), request: null, origin };
}
