import { type Clock, isPast, secondsLater } from './clock.ts';

interface Remembered<Value> {
  value: Value;
  until: Date;
}

/**
 * What a process remembers of rows that change rarely: each for a bounded time, and only until it hears of a change. It
 * is never the last word: what is granted on it is granted by a statement whose conditions look at the rows themselves
 * (decisions/0080).
 */
export class Recollection<Value> {
  private readonly clock: Clock;
  private readonly ageSeconds: number;
  private readonly most: number;
  private readonly held = new Map<string, Remembered<Value>>();
  private generation = 0;

  /** @param most rows at once; the oldest make room */
  constructor(clock: Clock, ageSeconds: number, most: number) {
    this.clock = clock;
    this.ageSeconds = ageSeconds;
    this.most = most;
  }

  /** What is remembered under `key`, else what `read` finds; that there is nothing is never remembered. */
  async recall(key: string, read: () => Promise<Value | null>): Promise<Value | null> {
    const now = this.clock.now();
    const known = this.held.get(key);
    if (known && !isPast(known.until, now)) return known.value;
    const { generation } = this;
    const value = await read();
    // Read before the change that was told of meanwhile: good for this caller, not for the next.
    if (value === null || generation !== this.generation) return value;
    this.held.delete(key);
    if (this.held.size >= this.most) this.held.delete(this.held.keys().next().value as string);
    this.held.set(key, { value, until: secondsLater(now, this.ageSeconds) });
    return value;
  }

  /** What is held under `key`, however old. */
  peek(key: string): Value | undefined {
    return this.held.get(key)?.value;
  }

  /** Forgets one, or all. */
  forget(key?: string): void {
    this.generation += 1;
    if (key === undefined) this.held.clear();
    else this.held.delete(key);
  }
}
