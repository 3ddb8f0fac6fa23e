import { secondsLater } from '../kernel/clock.ts';
import type { Random } from '../kernel/random.ts';
import { sql } from '../kernel/sql.ts';

/** The response of a receiver, or the reason why there was none. */
export type WebhookOutcome = { status: number } | { error: string };

/** Attempts of a delivery; about 20 hours with {@link retryAt}. */
export const maxTries = 12;
/** A webhook that fails for this long is disabled. */
export const maxFailingSeconds = 5 * 24 * 3600;
/** Failures in a row after which a webhook gets one attempt at a time. */
export const failuresBeforePause = 3;
const [firstSeconds, longestSeconds] = [10, 4 * 3600];
const [firstPauseSeconds, longestPauseSeconds] = [5, 60];

export function isDelivered(outcome: WebhookOutcome): boolean {
  return 'status' in outcome && outcome.status >= 200 && outcome.status < 300;
}

/** 410: the receiver is gone (Standard Webhooks). */
export function isGone(outcome: WebhookOutcome): boolean {
  return 'status' in outcome && outcome.status === 410;
}

/** The next attempt of a delivery: 10 s after the first failure, tripling up to 4 hours, with up to 20 % jitter. */
export function retryAt(now: Date, tries: number, random: Random): Date {
  const base = Math.min(longestSeconds, firstSeconds * 3 ** (tries - 1));
  return secondsLater(now, base * (1 + random.integer(200) / 1000));
}

/** Whether the receiver seems to be down: it gets one attempt at a time, the least tried delivery first. */
export function isPausing(failures: number): boolean {
  return failures >= failuresBeforePause;
}

/** The next attempt at a webhook after this number of failures in a row: 5 s, doubling up to a minute; null: no pause. */
export function pauseUntil(now: Date, failures: number): Date | null {
  return isPausing(failures) ? afterPause(now, failures - failuresBeforePause) : null;
}

/** The end of a pause: the first of 5 s, doubling up to a minute. @param before pauses in a row before it */
export function afterPause(now: Date, before: number): Date {
  return secondsLater(now, Math.min(longestPauseSeconds, firstPauseSeconds * 2 ** before));
}

/** The longest pause of a receiver, in seconds. */
export const longestPause = longestPauseSeconds;
/** SQL: the longest that {@link retryAt} of a delivery `t` can lie ahead, in seconds. */
export const longestRetry = sql`case when t.tries = 0 then 0
  else 1.2 * least(${longestSeconds}, ${firstSeconds} * 3 ^ least(t.tries - 1, 10)) end`;
