/**
 * Storage of ended sessions. Each process must see the entries of the others: use a table or Redis if there are several.
 */
export interface SessionRevocations {
  /**
   * Ends the sessions under `key` that began at or before `at` (Unix seconds). The entry can be deleted after `until`:
   * no cookie lives longer. Of several `at` for a key, the latest counts.
   */
  revoke(key: string, at: number, until: Date): Promise<void> | void;
  /** The latest `at` of these keys, or undefined. */
  revokedAt(keys: readonly string[]): Promise<number | undefined> | number | undefined;
}

interface Entry {
  at: number;
  /** Times at which it was stored and can be deleted, in Unix milliseconds. */
  madeMs: number;
  untilMs: number;
}

/**
 * For a single process; a restart deletes all entries. When it is full, it deletes the oldest entry, and counts every
 * session as ended that began before that entry was stored: people sign in again, and no ended session returns.
 */
export class MemorySessionRevocations implements SessionRevocations {
  private readonly entries = new Map<string, Entry>();
  private readonly max: number;
  private readonly now: () => number;
  /** Unix seconds. */
  private floor: number | undefined;

  constructor(options: { max?: number; now?: () => number } = {}) {
    this.max = options.max ?? 100_000;
    this.now = options.now ?? (() => Date.now());
  }

  revoke(key: string, at: number, until: Date): void {
    const madeMs = this.now();
    const earlier = this.entries.get(key);
    // Deleted first, so that the order is that of `madeMs`.
    this.entries.delete(key);
    this.entries.set(key, {
      madeMs,
      at: Math.max(at, earlier?.at ?? at),
      untilMs: Math.max(until.getTime(), earlier?.untilMs ?? 0),
    });
    for (const [oldest, entry] of this.entries) {
      if (entry.untilMs > madeMs && this.entries.size <= this.max) break;
      if (entry.untilMs > madeMs) this.floor = Math.ceil(entry.madeMs / 1000);
      this.entries.delete(oldest);
    }
  }

  revokedAt(keys: readonly string[]): number | undefined {
    const found = keys.flatMap((key) => this.entries.get(key)?.at ?? []);
    const all = this.floor === undefined ? found : [...found, this.floor];
    return all.length > 0 ? Math.max(...all) : undefined;
  }
}

const processKey = Symbol.for('@latchkey/node: ended sessions');

/** One for all copies of this library in a process: Next.js loads it once for its proxy, and once for pages. */
export function processRevocations(): SessionRevocations {
  const shared = globalThis as { [processKey]?: SessionRevocations };
  shared[processKey] ??= new MemorySessionRevocations();
  return shared[processKey];
}
