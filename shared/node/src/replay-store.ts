/** The memory of tokens that have done their work. With several processes it must be one that they share. */
export interface ReplayStore {
  /** Notes `id`, and says whether it is new. Of two calls at the same moment, one is told `true`. */
  remember(id: string, until: Date): Promise<boolean> | boolean;
  /** Takes a note back, so that the token can be tried again. */
  forget(id: string): Promise<void> | void;
}

/** For one process. Bounded: at its limit the oldest note goes first. */
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
