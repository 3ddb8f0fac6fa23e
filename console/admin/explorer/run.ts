import { type AnyOperation, queryClient } from '../api.ts';
import type { ResponseError } from '../failure.ts';
import { post } from '../request.ts';
import { signInAgain } from '../sign-in-again.ts';

export interface ApiRequest {
  query: string;
  variables?: object;
  operationName?: string;
}

/** A response of the API. `text`: formatted, if it is JSON. */
export interface ApiResponse {
  status: number;
  milliseconds: number;
  text: string;
}

/**
 * Sends a request unchanged, with the admin's session. If the API requires a new sign-in, opens the dialog, then
 * repeats the request.
 */
export async function run(request: ApiRequest): Promise<ApiResponse> {
  for (;;) {
    const { response, milliseconds } = await post(request);
    const { text, code } = read(await response.text());
    const reason = code === 'unauthenticated' ? 'expired' : code === 'reauthentication-required' ? 'fresh' : undefined;
    if (reason !== undefined && (await signInAgain(reason))) continue;
    return { status: response.status, milliseconds, text };
  }
}

/** Makes the other pages refetch their data after a mutation. @param kept the operation that no mutation changes */
export function forget(kept: AnyOperation): void {
  queryClient.removeQueries({ type: 'inactive' });
  void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== kept });
}

function read(text: string): { text: string; code?: string | undefined } {
  try {
    const body = JSON.parse(text) as { errors?: ResponseError[] };
    return { text: JSON.stringify(body, null, 2), code: body.errors?.[0]?.extensions?.code };
  } catch {
    return { text };
  }
}
