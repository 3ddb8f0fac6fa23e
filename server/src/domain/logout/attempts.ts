import { secondsLater } from '../kernel/clock.ts';
import type { Random } from '../kernel/random.ts';
import { sql } from '../kernel/sql.ts';

export type DeliveryOutcome = { status: number } | { error: string };

export const maxAttempts = 10;

/** 200 and 204 are success: deployed receivers return either (Back-Channel Logout 1.0 §2.8). */
export function isSuccess(outcome: DeliveryOutcome): boolean {
  return 'status' in outcome && (outcome.status === 200 || outcome.status === 204);
}

/** 400: the receiver rejects the token; a retry is pointless. */
export function isFinal(outcome: DeliveryOutcome): boolean {
  return 'status' in outcome && outcome.status === 400;
}

/** 10 s after the first failure, doubling to an hour, with up to 20 % jitter. */
export function nextAttemptAt(now: Date, failures: number, random: Random): Date {
  const base = Math.min(3600, 10 * 2 ** (failures - 1));
  return secondsLater(now, base * (1 + random.integer(200) / 1000));
}

/** SQL: the longest that {@link nextAttemptAt} of a row `t` can lie ahead, in seconds. */
export const longestWait = sql`case when t.attempts = '[]' then 0
  else 1.2 * least(3600, 10 * 2 ^ least(jsonb_array_length(t.attempts) - 1, 9)) end`;
