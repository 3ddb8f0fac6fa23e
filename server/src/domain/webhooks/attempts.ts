import { Backoff } from '../relay/backoff.ts';

/** The response of a receiver, or the reason why there was none. */
export type WebhookOutcome = { status: number } | { error: string };

/** Attempts of a delivery; about 20 hours with {@link retries}. */
export const maxTries = 12;
/** A webhook that fails for this long is disabled. */
export const maxFailingSeconds = 5 * 24 * 3600;
/** Failures in a row after which a webhook gets one attempt at a time. */
export const failuresBeforePause = 3;
export const retries = new Backoff({ firstSeconds: 10, factor: 3, longestSeconds: 4 * 3600, jitter: 0.2 });

export function isDelivered(outcome: WebhookOutcome): boolean {
  return 'status' in outcome && outcome.status >= 200 && outcome.status < 300;
}

/** 410: the receiver is gone (Standard Webhooks). */
export function isGone(outcome: WebhookOutcome): boolean {
  return 'status' in outcome && outcome.status === 410;
}

/** Whether the receiver seems to be down: it gets one attempt at a time, the least tried delivery first. */
export function isPausing(failures: number): boolean {
  return failures >= failuresBeforePause;
}
