import { Backoff } from '../relay/backoff.ts';

/** `isFinal`: the receiver has answered; a retry is pointless. */
export type DeliveryOutcome = { status: number } | { error: string; isFinal?: boolean };

export const maxAttempts = 10;

/** 200 and 204 are success: deployed receivers return either (Back-Channel Logout 1.0 §2.8). */
export function isSuccess(outcome: DeliveryOutcome): boolean {
  return 'status' in outcome && (outcome.status === 200 || outcome.status === 204);
}

/** 400: the receiver rejects the token. */
export function isFinal(outcome: DeliveryOutcome): boolean {
  return 'status' in outcome ? outcome.status === 400 : outcome.isFinal === true;
}

export const retries = new Backoff({ firstSeconds: 10, factor: 2, longestSeconds: 3600, jitter: 0.2 });
