/** Storage of used logout tokens: two entries for each while its sessions are ended, then one. Several processes must share one. */
export interface ReplayStore {
  /** Stores `id`; returns whether it is new. Atomic: of concurrent calls, one gets `true`. */
  remember(id: string, until: Date): Promise<boolean> | boolean;
  /** Deletes `id`. Must succeed if there is none. */
  forget(id: string): Promise<void> | void;
}

/** For a single process. At its limit, drops the oldest entry first. */
export class MemoryReplayStore implements ReplayStore {
  private readonly notes = new Map<string, number>();
  private readonly max: number;
  private readonly now: () => number;

  constructor(options: { max?: number; now?: () => number } = {}) {
    this.max = options.max ?? 10_000;
    this.now = options.now ?? Date.now;
  }

  remember(id: string, until: Date): boolean {
    const now = this.now();
    const noted = this.notes.get(id);
    if (noted !== undefined && noted > now) return false;
    this.notes.delete(id);
    for (const [oldest, end] of this.notes) {
      if (end > now && this.notes.size < this.max) break;
      this.notes.delete(oldest);
    }
    this.notes.set(id, until.getTime());
    return true;
  }

  forget(id: string): void {
    this.notes.delete(id);
  }
}
