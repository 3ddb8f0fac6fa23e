import type { JWK } from 'jose';
import { LRUCache } from 'lru-cache';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import { usableKeys } from './client-keys.ts';

/** Reads the JSON at an address that a customer registered; never throws. */
export type FetchJson = (uri: string) => Promise<{ json: unknown } | { error: string }>;

interface Fetched {
  at: Date;
  /** Time at which `keys` were read; null: never. */
  readAt: Date | null;
  keys: JWK[] | null;
}

/** Time after which a key set is read again. */
const freshSeconds = 10 * 60;
/** Minimum time between reads of one address, also after an unknown `kid` or a failure. */
const cooldownSeconds = 60;
/**
 * Time for which keys are used after the last successful read. Bounds the use of a stolen key that its client has
 * withdrawn, while an attacker keeps the address unreadable.
 */
const longestStaleSeconds = 24 * 3600;

/** Key sets at `jwks_uri` of clients (OpenID Connect Core §10.1.1), cached in this process. */
export class RemoteKeys {
  private readonly fetched = new LRUCache<string, Promise<Fetched>>({ max: 1000 });

  constructor(private readonly deps: { clock: Clock; fetchJson: FetchJson }) {}

  /**
   * The usable keys; null if they cannot be read.
   *
   * @param kid read the address again if the cached set lacks it
   */
  async at(uri: string, kid: string | undefined): Promise<JWK[] | null> {
    const entry = this.fetched.get(uri);
    const known = await entry;
    if (known && !this.isDue(known, kid)) return this.usable(known);
    // Concurrent requests resume one by one; the first one may have begun to read for all.
    const latest = this.fetched.get(uri);
    const reading = latest === undefined || latest === entry ? this.read(uri, known) : latest;
    this.fetched.set(uri, reading);
    return this.usable(await reading);
  }

  private usable({ readAt, keys }: Fetched): JWK[] | null {
    return readAt && this.deps.clock.now() < secondsLater(readAt, longestStaleSeconds) ? keys : null;
  }

  private isDue(known: Fetched, kid: string | undefined): boolean {
    const now = this.deps.clock.now();
    const { at } = known;
    const keys = this.usable(known);
    // Read in the future: the clock was ahead.
    if (at > now) return true;
    if (now < secondsLater(at, cooldownSeconds)) return false;
    const lacks = keys === null || (kid !== undefined && !keys.some((key) => key.kid === kid));
    return lacks || now >= secondsLater(at, freshSeconds);
  }

  /** Reads the keys; a failed read keeps those of the last successful one. */
  private async read(uri: string, last: Fetched | undefined): Promise<Fetched> {
    const answer = await this.deps.fetchJson(uri);
    const at = this.deps.clock.now();
    if ('json' in answer) return { at, readAt: at, keys: usableKeys(answer.json) };
    return { at, readAt: last?.readAt ?? null, keys: last?.keys ?? null };
  }
}
