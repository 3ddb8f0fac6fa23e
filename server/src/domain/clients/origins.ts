import type { EventSubscriber } from '@mikro-orm/core';
import { Cache } from '../kernel/cache.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { inAllProjects } from '../kernel/scope.ts';
import { type Executing, query, sql } from '../kernel/sql.ts';
import { Client } from './client.entity.ts';
import { isAllowedOrigin } from './redirect-uri.ts';

/** Cache lifetime. A change of clients in this process clears the cache. */
const cacheSeconds = 5;
/** Size of each cache. Unknown origins have their own, so that they do not evict registered ones. */
const cacheSize = 1000;

/** The origins of all registered redirect URIs, for CORS at endpoints that read the client from the body. */
export class Origins implements EventSubscriber<Client> {
  private readonly registered: Cache<'registered'>;
  private readonly unknown: Cache<'unknown'>;
  private readonly passkeyPages: Cache<string[]>;

  constructor(private readonly deps: { db: Database; clock: Clock }) {
    this.registered = new Cache(deps.clock, cacheSeconds, cacheSize);
    this.unknown = new Cache(deps.clock, cacheSeconds, cacheSize);
    this.passkeyPages = new Cache(deps.clock, cacheSeconds, 1);
  }

  /** True if `origin` is the origin of a redirect URI of an enabled client. */
  async isRegistered(origin: string): Promise<boolean> {
    if (!/^https?:\/\/[^/?#\s]{1,255}$/.test(origin)) return false;
    const found = await this.registered.get(origin, async () => {
      const unknown = await this.unknown.get(origin, async () => ((await this.find(origin)) ? null : 'unknown'));
      return unknown === null ? 'registered' : null;
    });
    return found !== null;
  }

  /** The origins whose pages can use passkeys: those of clients that allow it (WebAuthn Level 3 section 5.11). */
  async related(): Promise<readonly string[]> {
    const found = await this.passkeyPages.get('related', async () =>
      (await inAllProjects(() => query(this.deps.db.alone, relatedOrigins, { prepare: 'origins.related' }))).map(
        ({ origin }) => origin,
      ),
    );
    return found ?? [];
  }

  /** Finds candidates by the index on redirect URIs' origins, and checks them with {@link isAllowedOrigin}. */
  private async find(origin: string): Promise<boolean> {
    const candidates = await inAllProjects(() =>
      query(this.deps.db.alone, originStatement(indexed(origin)), { prepare: 'origins.find' }),
    );
    return candidates.some((client) => isAllowedOrigin(client.redirect_uris, origin));
  }

  getSubscribedEntities() {
    return [Client];
  }

  afterCreate(): void {
    this.forget();
  }

  afterUpdate(): void {
    this.forget();
  }

  private forget(): void {
    this.registered.invalidate();
    this.unknown.invalidate();
    this.passkeyPages.invalidate();
  }
}

/**
 * Origins, those of the oldest clients first: browsers ignore all but about five names, and a new client must not push
 * others out. None of a third party: only the hosted page signs its users in, and a related page could create passkeys in
 * place of theirs, or make the browser delete them.
 */
const relatedOrigins = sql<{ origin: string }>`
  select origin from clients c join projects p on p.id = c.project_id and p.passkeys,
    unnest(redirect_origins(c.redirect_uris)) origin
  where c.related_origins and not c.third_party and c.disabled_at is null and origin like 'https://%'
  group by origin order by min(c.created_at), origin`;

/** Whether `origin` is that of a redirect URI of an enabled application of the project, without those of third parties. */
export async function isOwnOrigin(on: Executing, projectId: string, origin: string): Promise<boolean> {
  const candidates = await query(
    on,
    sql<{ redirect_uris: string[] }>`select redirect_uris from clients
      where project_id = ${projectId}::uuid and disabled_at is null and not third_party
        and redirect_origins(redirect_uris) @> ${[indexed(origin)]}::text[] limit 10`,
  );
  return candidates.some((client) => isAllowedOrigin(client.redirect_uris, origin));
}

/** An origin as the index has it: one of http without its port. */
const indexed = (origin: string) => (origin.startsWith('http:') ? origin.replace(/:[0-9]+$/, '') : origin);

export const originStatement = (origin: string) => sql<{ redirect_uris: string[] }>`
  select redirect_uris from clients
  where disabled_at is null and redirect_origins(redirect_uris) @> ${[origin]}::text[] limit 10`;
