import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.ts';
import { withoutTurns } from './scope.ts';

/**
 * A cache in one process of values that rarely change. It selects, and only an SQL statement grants: each grant by a
 * cached value is made by a statement whose conditions check the rows (decisions/0080).
 */
export class Cache<Value extends object | string | boolean> {
  private readonly entries: LRUCache<string, Value>;
  private readonly loads = new Map<string, Promise<Value | null>>();
  private readonly clock: Clock;
  private usedAt = 0;

  /** @param max number of entries; the least recently used is evicted */
  constructor(clock: Clock, ttlSeconds: number, max: number) {
    this.clock = clock;
    const perf = { now: () => clock.now().getTime() };
    // With `max`, it would allocate for all entries at once.
    this.entries = new LRUCache({
      maxSize: max,
      sizeCalculation: () => 1,
      ttl: ttlSeconds * 1000,
      ttlResolution: 0,
      perf,
    });
  }

  /**
   * The cached value, else the result of `load`; concurrent callers share one load. Null is not cached, nor is a value
   * whose load began before the last `invalidate`.
   */
  async get(key: string, load: () => Promise<Value | null>): Promise<Value | null> {
    this.dropFuture();
    return this.entries.get(key) ?? this.loads.get(key) ?? this.loaded(key, withoutTurns(load));
  }

  /** The cached value; null: none. */
  held(key: string): Value | null {
    this.dropFuture();
    return this.entries.get(key) ?? null;
  }

  /** The same, once. */
  take(key: string): Value | null {
    const value = this.held(key);
    if (value !== null) this.entries.delete(key);
    return value;
  }

  /** Caches a value that was just read or written. */
  hold(key: string, value: Value): void {
    this.dropFuture();
    this.entries.set(key, value);
  }

  /** Removes one entry, or all. */
  invalidate(key?: string): void {
    if (key === undefined) {
      this.entries.clear();
      this.loads.clear();
      return;
    }
    this.entries.delete(key);
    this.loads.delete(key);
  }

  /** Entries from a time when the clock was ahead would live until it is that time. */
  private dropFuture(): void {
    const now = this.clock.now().getTime();
    if (now < this.usedAt) this.invalidate();
    this.usedAt = now;
  }

  private async loaded(key: string, load: Promise<Value | null>): Promise<Value | null> {
    this.loads.set(key, load);
    try {
      const value = await load;
      if (value !== null && this.loads.get(key) === load) this.entries.set(key, value);
      return value;
    } finally {
      if (this.loads.get(key) === load) this.loads.delete(key);
    }
  }
}

/** Loads at the first call, once. A failed load is repeated at the next call. */
export function atFirstUse<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}
