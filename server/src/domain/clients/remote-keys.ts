import type { JWK } from 'jose';
import { LRUCache } from 'lru-cache';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import { usableKeys } from './client-keys.ts';

/** Reads the JSON at an address that a customer registered; never throws. */
export type FetchJson = (uri: string) => Promise<{ json: unknown } | { error: string }>;

interface Fetched {
  at: Date;
  keys: JWK[] | null;
}

/** How long a key set is used before it is read again. */
const freshSeconds = 10 * 60;
/** Minimum time between reads of one address, also after an unknown `kid` or a failure. */
const cooldownSeconds = 60;

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
    const known = await this.fetched.get(uri);
    if (known && !this.isDue(known, kid)) return known.keys;
    const reading = this.read(uri, known?.keys ?? null);
    this.fetched.set(uri, reading);
    return (await reading).keys;
  }

  private isDue({ at, keys }: Fetched, kid: string | undefined): boolean {
    const now = this.deps.clock.now();
    if (now < secondsLater(at, cooldownSeconds)) return false;
    const lacks = keys === null || (kid !== undefined && !keys.some((key) => key.kid === kid));
    return lacks || now >= secondsLater(at, freshSeconds);
  }

  /** A failed read keeps the keys of the last one. */
  private async read(uri: string, last: JWK[] | null): Promise<Fetched> {
    const answer = await this.deps.fetchJson(uri);
    const at = this.deps.clock.now();
    return { at, keys: 'json' in answer ? usableKeys(answer.json) : last };
  }
}
