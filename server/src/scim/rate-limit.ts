import type { Clock } from '../domain/kernel/clock.ts';
import { refuse } from '../domain/kernel/problem.ts';

/** Number of requests that a project may send. */
export interface RateLimit {
  /** Sustained. */
  perSecond: number;
  /** Concurrent or in quick succession, after an idle period. */
  burst: number;
}

/** Twenty times the rate of Entra ID; stops one directory from starving the others. */
export const defaultRateLimit: RateLimit = { perSecond: 500, burst: 1000 };

interface Bucket {
  left: number;
  atMs: number;
}

/** A token bucket per project, in this process. Only authenticated requests create one. */
export class RateLimiter {
  private readonly buckets = new Map<string, Bucket>();

  constructor(private readonly deps: { clock: Clock; limit: RateLimit }) {}

  /** Refuses `too-many`. */
  spend(projectId: string): void {
    const { perSecond, burst } = this.deps.limit;
    const now = this.deps.clock.now().getTime();
    const bucket = this.buckets.get(projectId) ?? { left: burst, atMs: now };
    bucket.left = Math.min(burst, bucket.left + (Math.max(0, now - bucket.atMs) / 1000) * perSecond);
    bucket.atMs = now;
    this.buckets.set(projectId, bucket);
    if (bucket.left < 1) refuse({ code: 'too-many', retryAfterSeconds: Math.ceil((1 - bucket.left) / perSecond) });
    bucket.left -= 1;
  }
}
