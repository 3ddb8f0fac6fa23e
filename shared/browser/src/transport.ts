import { LatchkeyError, type LatchkeyErrorCategory } from './error.ts';

/** How a page speaks to the service: an application by its API key, the hosted page by its flow and cookies. */
export type Connection = {
  /** The service's base address, without a slash at its end. */
  baseUrl: string;
  /** Headers of every request: the caller's credential. */
  headers: Record<string, string>;
  /** Whether cookies travel: never across origins, always for the hosted page. */
  credentials: 'omit' | 'same-origin';
  /** Milliseconds until a request is given up. */
  timeoutMs: number;
};

/** An answer as it came, success or refusal. */
export type Answer = { status?: string; nonce?: string } & Record<string, unknown>;

type Refusal = {
  code: string;
  category: LatchkeyErrorCategory;
  message: string;
  retry_after?: number;
  request_id?: string;
};

/** Posts one step. Refusals of the service are returned, everything else that goes wrong is thrown. */
export async function post(
  connection: Connection,
  step: string,
  body: Uint8Array<ArrayBuffer>,
  proof: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const { baseUrl, headers, credentials, timeoutMs } = connection;
  const controller = new AbortController();
  const abort = () => controller.abort();
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    abort();
  }, timeoutMs);
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  try {
    const response = await fetch(`${baseUrl}/v1/signin/${step}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers, ...(proof ? { 'Device-Proof': proof } : {}) },
      body,
      credentials,
      cache: 'no-store',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
      signal: controller.signal,
    });
    return parse(response.status, await response.text(), Number(response.headers.get('Retry-After')));
  } catch (cause) {
    if (cause instanceof LatchkeyError) throw cause;
    if (signal?.aborted)
      throw new LatchkeyError('ABORTED', 'user_action', 'The request was aborted.', { cause: signal.reason });
    if (timedOut)
      throw new LatchkeyError('TIMEOUT', 'retryable', `No answer within ${timeoutMs} ms. Try again.`, { cause });
    if (navigator.onLine === false)
      throw new LatchkeyError('OFFLINE', 'retryable', 'This device is offline. Try again when it is back.', { cause });
    throw new LatchkeyError(
      'NETWORK',
      'retryable',
      `${baseUrl} could not be reached. Try again; if it never works, check baseUrl, and that ${globalThis.location?.origin} is ` +
        "the origin of one of the client's redirect URIs (the browser blocks the answer otherwise).",
      { cause },
    );
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

function parse(httpStatus: number, text: string, retryAfter: number): Answer {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    // Not JSON: told below, with the HTTP status.
  }
  if (typeof answer === 'object' && answer !== null && ('status' in answer || 'txn' in answer)) return answer as Answer;
  throw unexpected(`HTTP ${httpStatus}, not an answer of this service`, httpStatus, retryAfter);
}

/** An answer that this version cannot read: a proxy's page, or another service at the base address. */
export const unexpected = (what: string, httpStatus = 200, retryAfter?: number): LatchkeyError =>
  new LatchkeyError(
    'UNEXPECTED_RESPONSE',
    httpStatus === 429 || httpStatus >= 500 ? 'retryable' : 'fatal',
    `Unexpected response (${what}). Check that baseUrl is the service's own address and that no proxy answers for it.`,
    { retryAfter: retryAfter || undefined },
  );

/** The error that a refusal becomes. */
export function refused(answer: Answer): LatchkeyError {
  const { code, category, message, retry_after, request_id } = answer['error'] as Refusal;
  return new LatchkeyError(code, category, message, { retryAfter: retry_after, requestId: request_id });
}
