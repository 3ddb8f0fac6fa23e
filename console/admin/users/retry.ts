import type { Outcome } from '../api.ts';
import { type Failure, outcomeUnknown } from '../failure.ts';

/** Pauses in seconds while the server is unreachable or restarts: about three minutes in total. */
const pauses = [1, 2, 4, 8, 15, 30, 30, 30, 30, 30];
const isTransient = ({ code }: Failure) => [outcomeUnknown, 'unavailable', 'conflict'].includes(code);
const sleep = (seconds: number) => new Promise<void>((resolve) => setTimeout(resolve, seconds * 1000));

export interface RetryOptions {
  signal: AbortSignal;
  /** Called before each repeat, while the server does not respond. */
  onWaiting(): void;
  /** For tests. */
  pause?: ((seconds: number) => Promise<void>) | undefined;
}

/** Repeats a request while the server does not respond. Undefined if it was stopped. */
export async function withRetry<Data>(
  request: () => Promise<Outcome<Data>>,
  { signal, onWaiting, pause = sleep }: RetryOptions,
): Promise<Outcome<Data> | undefined> {
  for (const seconds of [...pauses, undefined]) {
    const outcome = await request();
    if (!outcome.failure || seconds === undefined || !isTransient(outcome.failure)) return outcome;
    onWaiting();
    await pause(seconds);
    if (signal.aborted) return undefined;
  }
  return undefined;
}
