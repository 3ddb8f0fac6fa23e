/**
 * Storage of used logout tokens: each has two entries while its sessions are ended, then one. Several processes must
 * share a store.
 */
export interface ReplayStore {
  /** Stores `id`; returns whether it is new. Atomic: of concurrent calls, one gets `true`. */
  remember(id: string, until: Date): Promise<boolean> | boolean;
  /** Deletes `id`. Must succeed if there is none. */
  forget(id: string): Promise<void> | void;
}

/** For a single process. At its limit, drops the oldest entry first. */
export class MemoryReplayStore implements ReplayStore {
  private readonly entries = new Map<string, number>();
  private readonly max: number;
  private readonly now: () => number;

  constructor(options: { max?: number; now?: () => number } = {}) {
    this.max = options.max ?? 10_000;
    this.now = options.now ?? Date.now;
  }

  remember(id: string, until: Date): boolean {
    const now = this.now();
    const known = this.entries.get(id);
    if (known !== undefined && known > now) return false;
    this.entries.delete(id);
    for (const [oldest, end] of this.entries) {
      if (end > now && this.entries.size < this.max) break;
      this.entries.delete(oldest);
    }
    this.entries.set(id, until.getTime());
    return true;
  }

  forget(id: string): void {
    this.entries.delete(id);
  }
}
