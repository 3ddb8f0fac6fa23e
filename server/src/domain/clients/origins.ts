import { type Clock, isPast, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { isAllowedOrigin } from './redirect-uri.ts';

/** How long a yes is remembered. A no is not: a client that was just registered may call at once. */
const cacheSeconds = 5;
const cacheSize = 1000;

/** The origins of all registered redirect URIs, for the endpoints that cannot know the client before the body (CORS). */
export class Origins {
  private readonly db: Database;
  private readonly clock: Clock;
  private readonly allowedSince = new Map<string, Date>();

  constructor(db: Database, clock: Clock) {
    this.db = db;
    this.clock = clock;
  }

  /** True where `origin` is the origin of a redirect URI of any client that is not disabled. */
  async isRegistered(origin: string): Promise<boolean> {
    const now = this.clock.now();
    const since = this.allowedSince.get(origin);
    if (since && !isPast(secondsLater(since, cacheSeconds), now)) return true;
    this.allowedSince.delete(origin);
    if (!/^https?:\/\/[^/?#\s]{1,255}$/.test(origin)) return false;
    const scheme = origin.replace(/:[0-9]+$/, '');
    const candidates = await this.db.rows<{ redirect_uris: string[] }>(
      `select redirect_uris from clients
       where disabled_at is null and exists (select from unnest(redirect_uris) uri where starts_with(uri, ?))`,
      [scheme],
    );
    const allowed = candidates.some((client) => isAllowedOrigin(client.redirect_uris, origin));
    if (allowed) {
      if (this.allowedSince.size >= cacheSize) this.allowedSince.clear();
      this.allowedSince.set(origin, now);
    }
    return allowed;
  }
}
