import type { Client } from '../clients/client.entity.ts';
import type { ClientRegistry } from '../clients/client-registry.ts';
import { isAllowedOrigin } from '../clients/redirect-uri.ts';
import type { Locale } from '../delivery/locale.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Database } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
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
  private readonly clients: Pick<ClientRegistry, 'byApiKey'>;
  private readonly requests: AuthorizationRequests;
  private readonly issuerOrigin: string;

  constructor(
    db: Database,
    clients: Pick<ClientRegistry, 'byApiKey'>,
    requests: AuthorizationRequests,
    issuer: string,
  ) {
    this.db = db;
    this.clients = clients;
    this.requests = requests;
    this.issuerOrigin = new URL(issuer).origin;
  }

  /**
   * An application's page, by the client's publishable key, from an origin of its redirect URIs. Refuses
   * `unauthenticated`, and `forbidden` for another origin, or none.
   */
  async byApiKey(apiKey: string, origin: string | undefined): Promise<Page> {
    const found = await this.clients.byApiKey(apiKey);
    if (found?.kind !== 'publishable') refuse({ code: 'unauthenticated' });
    const { client } = found;
    if (origin === undefined || !isAllowedOrigin(client.redirectUris, origin)) {
      refuse({ code: 'forbidden', reason: 'origin' });
    }
    return { client, project: client.project.getEntity(), request: null, origin };
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
