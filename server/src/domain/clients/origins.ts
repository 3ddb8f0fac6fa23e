import type { EventSubscriber } from '@mikro-orm/core';
import { Cache } from '../kernel/cache.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { query, sql } from '../kernel/sql.ts';
import { Client } from './client.entity.ts';
import { isAllowedOrigin } from './redirect-uri.ts';

/** How long an answer is cached. A change of clients in this process empties the cache. */
const cacheSeconds = 5;
/** Of each kind of answer, so that invented origins do not push out those that are registered. */
const cacheSize = 1000;

/** The origins of all registered redirect URIs, for the endpoints that cannot know the client before the body (CORS). */
export class Origins implements EventSubscriber<Client> {
  private readonly registered: Cache<'registered'>;
  private readonly unknown: Cache<'unknown'>;

  constructor(private readonly deps: { db: Database; clock: Clock }) {
    this.registered = new Cache(deps.clock, cacheSeconds, cacheSize);
    this.unknown = new Cache(deps.clock, cacheSeconds, cacheSize);
  }

  /** True where `origin` is the origin of a redirect URI of any client that is not disabled. */
  async isRegistered(origin: string): Promise<boolean> {
    if (!/^https?:\/\/[^/?#\s]{1,255}$/.test(origin)) return false;
    const found = await this.registered.get(origin, async () => {
      const unknown = await this.unknown.get(origin, async () => ((await this.find(origin)) ? null : 'unknown'));
      return unknown === null ? 'registered' : null;
    });
    return found !== null;
  }

  /** By the index on the origins of redirect URIs; what it finds is judged as a page's origin is elsewhere. */
  private async find(origin: string): Promise<boolean> {
    const name = origin.startsWith('http:') ? origin.replace(/:[0-9]+$/, '') : origin;
    const candidates = await query(this.deps.db.alone, originStatement(name), { prepare: 'origins.find' });
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
  }
}

export const originStatement = (origin: string) => sql<{ redirect_uris: string[] }>`
  select redirect_uris from clients
  where disabled_at is null and redirect_origins(redirect_uris) @> ${[origin]}::text[] limit 10`;
