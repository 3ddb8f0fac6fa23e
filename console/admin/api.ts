import {
  keepPreviousData,
  MutationCache,
  QueryCache,
  QueryClient,
  useMutation as useCachedMutation,
  useQuery as useCachedQuery,
} from '@tanstack/react-query';
import { useCallback, useRef } from 'react';
import { type Failure, failureOf, isUnknown, outcomeUnknown, RequestError, type ResponseError } from './failure.ts';
import type { Operation } from './generated/operations.ts';
import { type Attempt, keyOf } from './idempotency.ts';
import { t } from './language/language.ts';
import { post } from './request.ts';
import { type Reason, signInAgain } from './sign-in-again.ts';

declare module '@tanstack/react-query' {
  interface Register {
    defaultError: RequestError;
    mutationMeta: { invalidates: readonly AnyOperation[] };
  }
}

export type AnyOperation = Operation<unknown, never>;

/** Duration of the last response in ms; undefined while the server is unreachable. */
export const latency = { ms: 0 as number | undefined, listeners: new Set<() => void>() };

/**
 * Sends an operation to the admin API.
 *
 * @param idempotencyKey of a mutation
 * @throws RequestError
 */
export async function send<Data, Variables>(
  operation: Operation<Data, Variables>,
  variables: Variables,
  signal?: AbortSignal,
  idempotencyKey?: string,
): Promise<Data> {
  try {
    const { response, milliseconds } = await post({ query: operation, variables }, signal, idempotencyKey);
    latency.ms = response.status >= 500 ? undefined : milliseconds;
    const { data, errors } = (await response.json()) as { data?: Data | null; errors?: ResponseError[] };
    if (errors?.[0]) throw new RequestError(failureOf(errors[0]));
    if (data) return data;
    throw new Error('empty response');
  } catch (error) {
    if (error instanceof RequestError || signal?.aborted) throw error;
    latency.ms = undefined;
    throw new RequestError(
      idempotencyKey === undefined
        ? { code: 'network', message: t('The server did not respond. Check the connection and try again.') }
        : { code: outcomeUnknown, message: unknownText },
    );
  } finally {
    for (const listener of latency.listeners) listener();
  }
}

const unknownText = t(
  'The answer was lost, so it is not known whether this was saved. Look at the current values, or try again: the same change is made only once.',
);

const messageOf = ({ code, message }: Failure) => (code === outcomeUnknown ? unknownText : message);

const freshMilliseconds = 5000;

const isExpired = (error: RequestError | null) => error?.code === 'unauthenticated';

export const queryClient: QueryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Report a lost connection as a failure; do not pause.
      networkMode: 'always',
      refetchOnReconnect: true,
      refetchOnWindowFocus: false,
      retry: false,
      // A section that is rendered after `prefetch` does not repeat its part.
      staleTime: freshMilliseconds,
      // Drafts compare object identity to detect a refetch.
      structuralSharing: false,
    },
    mutations: { networkMode: 'always' },
  },
  queryCache: new QueryCache({
    async onError(error) {
      if (isExpired(error) && (await signInAgain('expired'))) await refetch([]);
    },
  }),
  mutationCache: new MutationCache({
    onSuccess(_data, _variables, _context, { meta }) {
      queryClient.removeQueries({ type: 'inactive' });
      void refetch(meta?.invalidates ?? []);
    },
  }),
});

/** Refetches these queries and failed ones; absent: all. A query in flight may be stale: cancels it first. */
async function refetch(operations?: readonly unknown[]): Promise<void> {
  const filters = {
    type: 'active',
    predicate: ({ queryKey, state }) => !operations || operations.includes(queryKey[0]) || state.status === 'error',
  } satisfies Parameters<typeof queryClient.invalidateQueries>[0];
  await queryClient.cancelQueries(filters);
  await queryClient.invalidateQueries(filters);
}

/** A query and the variables of one of its uses. */
export type Part = readonly [operation: AnyOperation, variables: object];

export function part<Data, Variables extends object>(
  operation: Operation<Data, Variables>,
  variables: Variables,
): Part {
  return [operation as AnyOperation, variables];
}

/**
 * Runs several queries in one request, unless they are cached or in flight. Each keeps its own cache entry for `useQuery`, and is
 * sent alone if this request fails.
 *
 * @param operation has the root fields of all parts
 * @returns when all parts of the request are in the cache, or failed
 */
export async function prefetch<Data, Variables>(
  operation: Operation<Data, Variables>,
  variables: Variables,
  parts: readonly Part[],
): Promise<void> {
  const cache = queryClient.getQueryCache();
  const missing = parts.filter((queryKey) => {
    const query = cache.find({ queryKey });
    return !query || (query.state.fetchStatus === 'idle' && query.isStaleByTime(freshMilliseconds));
  });
  if (missing.length < 2) return;
  const batch = send(operation, variables);
  // Not an unhandled rejection while offline, where the parts wait.
  batch.catch(() => undefined);
  const requests = missing.map(([query, itsVariables]) => {
    const alone = (signal: AbortSignal) => send<unknown, never>(query, itsVariables as never, signal);
    // A later refetch must not repeat this response.
    let first: Promise<unknown> | undefined = batch;
    return queryClient.prefetchQuery({
      queryKey: [query, itsVariables],
      queryFn: ({ signal }) => {
        const response = first?.catch(() => alone(signal)) ?? alone(signal);
        first = undefined;
        return response;
      },
    });
  });
  await Promise.all(requests);
}

/** `prefetch` once per variables, before the components of a page run the parts. */
export function usePrefetch<Data, Variables>(
  operation: Operation<Data, Variables>,
  variables: Variables,
  parts: readonly Part[],
): void {
  const key = JSON.stringify(variables);
  const last = useRef<string>(undefined);
  if (last.current === key) return;
  last.current = key;
  void prefetch(operation, variables, parts);
}

export interface QueryResult<Data> {
  data: Data | undefined;
  failure: Failure | undefined;
  /** The data is being refetched, or belongs to the previous variables. */
  stale: boolean;
  /** The data belongs to the previous variables. */
  previous: boolean;
  reload(): void;
}

/**
 * Runs a query and keeps its last data while refetching and after a failed refetch.
 *
 * @param options pause: do not run yet; everySeconds: polling interval while the page is visible; keep: show the
 *   data of the previous variables until the next response, for lists
 */
export function useQuery<Data, Variables>(
  operation: Operation<Data, Variables>,
  variables: Variables,
  { pause = false, everySeconds, keep = false }: { pause?: boolean; everySeconds?: number; keep?: boolean } = {},
): QueryResult<Data> {
  const { data, error, isFetching, isPlaceholderData, refetch } = useCachedQuery<Data>({
    queryKey: [operation, variables],
    queryFn: ({ signal }) => send(operation, variables, signal),
    enabled: !pause,
    // Polling an expired session would reopen the sign-in dialog.
    refetchInterval: ({ state }) => everySeconds !== undefined && !isExpired(state.error) && everySeconds * 1000,
    ...(keep ? { placeholderData: keepPreviousData as never } : {}),
  });
  // A retry without data clears the error; keep it until the response.
  const key = JSON.stringify(variables);
  const last = useRef<{ key: string; error: RequestError }>(undefined);
  if (error) last.current = { key, error };
  else if (!isFetching || last.current?.key !== key) last.current = undefined;
  const failure = last.current?.error;
  return {
    data,
    // While the sign-in dialog is open, it alone reports the expired session.
    failure: data !== undefined && isExpired(failure ?? null) ? undefined : failure,
    stale: isFetching,
    previous: isPlaceholderData,
    reload: useCallback(() => void refetch(), [refetch]),
  };
}

export type Outcome<Data> = { data: Data; failure?: undefined } | { data?: undefined; failure: Failure };

/**
 * A mutation, whether it is in flight, its last failure, and a function that clears the failure. Prompts for sign-in
 * where required, then retries.
 *
 * @param invalidates mounted queries to refetch afterwards; queries without an observer are dropped from the cache
 */
export function useMutation<Data, Variables>(
  operation: Operation<Data, Variables>,
  invalidates: readonly AnyOperation[],
): [
  mutate: (variables: Variables) => Promise<Outcome<Data>>,
  busy: boolean,
  failure: Failure | undefined,
  reset: () => void,
] {
  // The request whose outcome is unknown: a retry has its key.
  const attempt = useRef<Attempt>(undefined);
  const { mutateAsync, isPending, error, reset } = useCachedMutation({
    async mutationFn(variables: Variables) {
      attempt.current = keyOf(JSON.stringify([operation, variables]), attempt.current);
      try {
        const data = await sendSignedIn(operation, variables, attempt.current.key);
        attempt.current = undefined;
        return data;
      } catch (failure) {
        if (!isUnknown(failure as RequestError)) attempt.current = undefined;
        throw failure;
      }
    },
    meta: { invalidates },
  });
  const load = async () => {
    await refetch();
    // A failed refetch keeps the data of what is deleted.
    const isMissing = ({ state: { error } }: { state: { error: unknown } }) =>
      (error as Failure | null)?.code === 'not-found';
    await queryClient.resetQueries({ type: 'active', predicate: isMissing });
    attempt.current = undefined;
    reset();
  };
  const shown = (failure: RequestError): Failure =>
    isStale(failure) ? { ...failure, message: messageOf(failure), load } : failure;
  const mutate = useCallback(
    (variables: Variables): Promise<Outcome<Data>> =>
      mutateAsync(variables).then(
        (data) => ({ data }),
        (failure: RequestError) => ({ failure: shown(failure) }),
      ),
    [mutateAsync],
  );
  return [mutate, isPending, error ? shown(error) : undefined, reset];
}

/** Whether the page may show old values: also of something deleted, for example by the attempt before. */
const isStale = (failure: Failure): boolean => ['conflict', 'not-found'].includes(failure.code) || isUnknown(failure);

const reasons: Record<string, Reason> = { unauthenticated: 'expired', 'reauthentication-required': 'fresh' };

async function sendSignedIn<Data, Variables>(
  operation: Operation<Data, Variables>,
  variables: Variables,
  idempotencyKey: string,
): Promise<Data> {
  for (;;) {
    try {
      return await send(operation, variables, undefined, idempotencyKey);
    } catch (error) {
      const failure = error as RequestError;
      const reason = reasons[failure.code];
      if (reason === undefined) throw failure;
      if (!(await signInAgain(reason))) {
        throw new RequestError({ ...failure, message: t('Nothing was changed. Sign in again first.') });
      }
    }
  }
}
