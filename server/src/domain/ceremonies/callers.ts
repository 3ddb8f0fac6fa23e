import type { Client } from '../clients/client.entity.ts';
import type { ClientRegistry, KeyHolder } from '../clients/client-registry.ts';
import { isAllowedOrigin } from '../clients/redirect-uri.ts';
import type { Locale } from '../delivery/locale.ts';
import type { Actor } from '../kernel/actor.ts';
import { Cache } from '../kernel/cache.ts';
import type { Clock } from '../kernel/clock.ts';
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

/** How long an API key is remembered; its use is noted by reading it, so that is as exact as this and a minute. */
const rememberSeconds = 60;
const mostRemembered = 10_000;

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
  /** By SHA-256 of the key; publishable ones only. */
  private readonly remembered: Cache<KeyHolder>;

  constructor(
    db: Database,
    clock: Clock,
    clients: Pick<ClientRegistry, 'byApiKey'>,
    requests: AuthorizationRequests,
    issuer: string,
  ) {
    this.db = db;
    this.clients = clients;
    this.requests = requests;
    this.issuerOrigin = new URL(issuer).origin;
    this.remembered = new Cache(clock, rememberSeconds, mostRemembered);
  }

  /**
   * An application's page, by the client's publishable key, from an origin of its redirect URIs; perhaps from memory,
   * see {@link Page.remembered}. Refuses `unauthenticated`, and `forbidden` for another origin, or none.
   */
  async byApiKey(apiKey: string, origin: string | undefined): Promise<Page> {
    const keyHash = digest(apiKey);
    const known = await this.remembered.get(keyHash, () => this.holderOf(apiKey));
    if (!known) refuse({ code: 'unauthenticated' });
    const judgeAnew = async () => {
      const holder = await this.holderOf(apiKey);
      // The registry hands out the same client for as long as neither it nor its project has changed.
      if (holder?.client !== known.client) this.remembered.invalidate(keyHash);
      if (!holder) refuse({ code: 'unauthenticated' });
      return applicationPage(holder, origin) ?? refuse({ code: 'forbidden', reason: 'origin' });
    };
    const page = applicationPage(known, origin);
    return page ? { ...page, remembered: { keyHash, judgeAnew } } : judgeAnew();
  }

  private async holderOf(apiKey: string): Promise<KeyHolder | null> {
    const holder = await this.clients.byApiKey(apiKey);
    return holder?.kind === 'publishable' ? holder : null;
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

/** Null where the origin is none of the client's. */
function applicationPage({ client }: KeyHolder, origin: string | undefined): Page | null {
  if (origin === undefined || !isAllowedOrigin(client.redirectUris, origin)) return null;
  return { client, project: client.project.getEntity(), request: null, origin };
}
