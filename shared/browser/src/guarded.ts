import { LatchkeyError } from './error.ts';

/**
 * An operation that rejects with LatchkeyError only, and with ABORTED as soon as the `signal` of its last argument
 * aborts, also while it waits for the browser's storage.
 */
export function guarded<Args extends unknown[], Result>(
  work: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    try {
      return await untilAborted(
        () => work(...args),
        (args.at(-1) as { signal?: AbortSignal } | null | undefined)?.signal,
      );
    } catch (error) {
      throw failure(error);
    }
  };
}

/** Runs `work`, and rejects with ABORTED as soon as `signal` aborts. */
export async function untilAborted<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  // Arguments are checked by the operation itself.
  if (typeof signal?.addEventListener !== 'function') return work();
  if (signal.aborted) throw aborted(signal.reason);
  return new Promise((resolve, reject) => {
    const abort = () => reject(aborted(signal.reason));
    signal.addEventListener('abort', abort);
    const settled = () => signal.removeEventListener('abort', abort);
    work().then(resolve, reject).finally(settled);
  });
}

/** Runs `work` with a controller that follows `signal`. */
export async function abortable<T>(
  signal: AbortSignal | undefined,
  work: (own: AbortController) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  const abort = () => own.abort();
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  try {
    return await work(own);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

export const aborted = (cause: unknown): LatchkeyError =>
  new LatchkeyError('ABORTED', 'user_action', 'The request was aborted.', { cause });

/** `error`, if it is a LatchkeyError; otherwise one with `error` as its cause. */
export function failure(error: unknown): LatchkeyError {
  if (error instanceof LatchkeyError) return error;
  return new LatchkeyError('INTERNAL_ERROR', 'fatal', 'The SDK failed: see cause.', {
    cause: error,
  });
}
