import type { SigninFailure } from '@latchkey/contracts';
import { LatchkeyError } from './error.ts';
import { abortable, aborted } from './guarded.ts';

/** Connection to the service: by API key from an application, by flow and cookies from the hosted page. */
export type Connection = {
  /** Base URL without a trailing slash. */
  baseUrl: string;
  /** Credential headers of every request. */
  headers: Record<string, string>;
  /** Cookies: never cross-origin, always on the hosted page. */
  credentials: 'omit' | 'same-origin';
  /** Request timeout in milliseconds. */
  timeoutMs: number;
};

/** Raw response, success or error. */
export type Answer = { status?: string; nonce?: string } & Record<string, unknown>;

/** Posts one step. Returns error responses of the service; throws on any other failure. */
export async function post(
  connection: Connection,
  step: string,
  body: Uint8Array<ArrayBuffer>,
  proof: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const { baseUrl, headers, credentials, timeoutMs } = connection;
  return abortable(signal, async (own) => {
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      own.abort();
    }, timeoutMs);
    try {
      const response = await fetch(`${baseUrl}/v1/signin/${step}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers, ...(proof ? { 'Device-Proof': proof } : {}) },
        body,
        credentials,
        cache: 'no-store',
        redirect: 'error',
        referrerPolicy: 'no-referrer',
        signal: own.signal,
      });
      return parse(response.status, await response.text(), Number(response.headers.get('Retry-After')));
    } catch (cause) {
      if (cause instanceof LatchkeyError) throw cause;
      if (signal?.aborted) throw aborted(signal.reason);
      throw failed(baseUrl, timedOut ? timeoutMs : undefined, cause);
    } finally {
      clearTimeout(timer);
    }
  });
}

/** A request without a response. */
function failed(baseUrl: string, timeoutMs: number | undefined, cause: unknown): LatchkeyError {
  const retryable = (code: string, message: string) => new LatchkeyError(code, 'retryable', message, { cause });
  if (timeoutMs) return retryable('TIMEOUT', `No response within ${timeoutMs} ms. Try again.`);
  if (globalThis.navigator?.onLine === false)
    return retryable('OFFLINE', 'This device is offline. Try again when it is online.');
  return retryable(
    'NETWORK',
    `${baseUrl} could not be reached. Try again; if it keeps failing, check baseUrl, apiKey, and the page's ` +
      'Content-Security-Policy.',
  );
}

function parse(httpStatus: number, text: string, retryAfter: number): Answer {
  let answer: Answer | null | undefined;
  try {
    answer = JSON.parse(text);
  } catch {
    // Not JSON: reported below with the HTTP status.
  }
  // JSON of a proxy can have a `status` of its own.
  if (httpStatus < 400 ? (answer?.status ?? answer?.['txn']) : answer?.status === 'ERROR') return answer as Answer;
  throw unexpected(`HTTP ${httpStatus}, not a response of this service`, httpStatus, retryAfter);
}

/** A response that this version cannot parse: from a proxy, or another service at the base URL. */
export const unexpected = (problem: string, httpStatus = 200, retryAfter?: number): LatchkeyError =>
  new LatchkeyError(
    'UNEXPECTED_RESPONSE',
    httpStatus === 429 || httpStatus >= 500 ? 'retryable' : 'fatal',
    `Unexpected response (${problem}). Check baseUrl, and that no proxy responds in its place.`,
    { retryAfter: retryAfter || undefined },
  );

/** Converts an error response to an error. */
export function refused(answer: Answer): LatchkeyError {
  const error = answer['error'] as SigninFailure['error'];
  const { code, category, message, retry_after: retryAfter, request_id: requestId } = error;
  return new LatchkeyError(code, category, message, { ...error, retryAfter, requestId });
}
