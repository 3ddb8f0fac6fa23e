import { secondsLater } from '../kernel/clock.ts';
import type { Random } from '../kernel/random.ts';
import { type Fragment, sql } from '../kernel/sql.ts';

interface Curve {
  /** The wait after the first failure. */
  firstSeconds: number;
  /** Each further wait is this many times as long. */
  factor: number;
  longestSeconds: number;
  /** The largest random part that is added, e.g. 0.2 for 20 %. Default: none. */
  jitter?: number;
}

/** The waits between attempts, as a time for the next one and as SQL for the longest possible. */
export class Backoff {
  constructor(private readonly curve: Curve) {}

  /** The next attempt. @param failures in a row, at least 1 */
  next(now: Date, failures: number, random: Random): Date {
    const { jitter = 0 } = this.curve;
    const added = jitter === 0 ? 0 : random.integer(1000 * jitter) / 1000;
    return secondsLater(now, this.seconds(failures) * (1 + added));
  }

  /** The wait without its random part. */
  seconds(failures: number): number {
    const { firstSeconds, factor, longestSeconds } = this.curve;
    return Math.min(longestSeconds, firstSeconds * factor ** Math.max(0, failures - 1));
  }

  /** SQL: the longest that {@link next} can lie ahead, in seconds; 0 without a failure. */
  longest(failures: Fragment): Fragment {
    const { firstSeconds, factor, longestSeconds, jitter = 0 } = this.curve;
    // The exponent is capped: the power of a large one would overflow.
    return sql`case when ${failures} = 0 then 0 else ${1 + jitter}::float8 * least(${longestSeconds}::float8,
      ${firstSeconds}::float8 * ${factor}::float8 ^ least(${failures} - 1, 20)) end`;
  }
}
