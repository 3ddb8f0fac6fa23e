import { settings } from './settings.ts';

/**
 * Headers of a change or read in the session of this browser: other sites cannot send them, and the server refuses
 * another account.
 */
export const ownHeaders = { 'X-Latchkey-Csrf': '1', 'X-Latchkey-Account': settings.account };

/** A response of the admin API. */
export interface Timed {
  response: Response;
  /** Time from the request to the headers of the response. */
  milliseconds: number;
}

/** Responses of {@link sendAhead} that `post` has not returned yet, by request body. */
const ahead = new Map<string, Promise<Timed>>();

/**
 * Sends a request to the admin API with the session of this browser, unless {@link sendAhead} has sent the same.
 *
 * @param idempotencyKey of a mutation: the server carries out equal requests with the same key once
 */
export function post(body: object, signal?: AbortSignal, idempotencyKey?: string): Promise<Timed> {
  const text = JSON.stringify(body);
  const sent = ahead.get(text);
  ahead.delete(text);
  return sent ?? request(text, signal, idempotencyKey);
}

/** Sends a request before the code that needs it runs. The first `post` with the same body gets its response. */
export function sendAhead(body: object): void {
  const text = JSON.stringify(body);
  const response = request(text);
  // The caller of `post` handles the error.
  response.catch(() => undefined);
  ahead.set(text, response);
}

async function request(body: string, signal?: AbortSignal, idempotencyKey?: string): Promise<Timed> {
  const began = performance.now();
  const response = await fetch('/admin/graphql', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...ownHeaders,
      ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
    },
    body,
    signal: signal ?? null,
  });
  return { response, milliseconds: Math.round(performance.now() - began) };
}
