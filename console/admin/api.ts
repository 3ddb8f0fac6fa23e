import { type AnyVariables, Client, cacheExchange, fetchExchange, type TypedDocumentNode } from '@urql/core';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { type Failure, failureOf } from './failure.ts';
import { signInAgain } from './sign-in-again.ts';

/** Duration of the last response in ms; undefined while the server is unreachable. */
export const latency = { ms: 0 as number | undefined, listeners: new Set<() => void>() };

async function timed(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const begin = performance.now();
  try {
    const response = await fetch(input, init);
    latency.ms = response.status >= 500 ? undefined : Math.round(performance.now() - begin);
    return response;
  } catch (error) {
    if (!init?.signal?.aborted) latency.ms = undefined;
    throw error;
  } finally {
    for (const listener of latency.listeners) listener();
  }
}

/** Number of completed mutations. */
let writes = 0;

/** Refetches a query that was in flight during a mutation: it may be stale, and urql would keep it. */
async function refetchIfStale(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const isWrite = typeof init?.body === 'string' && /\bmutation \w+/.test(init.body);
  for (;;) {
    const before = writes;
    const response = await timed(input, init);
    if (isWrite) writes += 1;
    if (isWrite || writes === before) return response;
    await response.body?.cancel();
  }
}

export const client = new Client({
  url: '/admin/graphql',
  exchanges: [cacheExchange, fetchExchange],
  fetch: refetchIfStale,
  preferGetMethod: false,
  fetchOptions: { headers: { 'X-Latchkey-Csrf': '1' } },
  // Show cached data at once and revalidate it in the background.
  requestPolicy: 'cache-and-network',
});

/** One type name for all queries and mutations: a mutation invalidates every query on the page. */
const everything = { additionalTypenames: ['Everything'] };

/** Fires after each successful mutation, so that failed queries retry. */
const recovered = new EventTarget();

export interface Read<Data> {
  data: Data | undefined;
  failure: Failure | undefined;
  /** No data yet. */
  loading: boolean;
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
export function useRead<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  options: { pause?: boolean; everySeconds?: number; keep?: boolean } = {},
): Read<Data> {
  const { pause = false, everySeconds, keep = false } = options;
  const [{ data: answered, error, fetching, stale }, execute] = useQuery({
    query,
    variables,
    pause,
    context: everything,
  } as never);
  const reload = useCallback(() => execute({ requestPolicy: 'network-only' }), [execute]);
  const failure = useMemo(() => (error ? failureOf(error) : undefined), [error]);

  const question = JSON.stringify(variables);
  const held = useRef<{ question: string; data: Data }>(undefined);
  // While fetching or paused, urql still returns the data of the previous variables.
  if (answered != null && !fetching && !pause) held.current = { question, data: answered as Data };
  const data = keep || held.current?.question === question ? held.current?.data : undefined;

  const isExpired = failure?.code === 'unauthenticated';
  useEffect(() => {
    if (!isExpired) return;
    let isHere = true;
    void signInAgain('expired').then((signedIn) => {
      if (signedIn && isHere) reload();
    });
    return () => {
      isHere = false;
    };
  }, [isExpired, reload]);

  // urql refetches only queries that have a cached result; retry the failed ones here.
  useEffect(() => {
    if (!failure) return;
    recovered.addEventListener('recovered', reload);
    window.addEventListener('online', reload);
    return () => {
      recovered.removeEventListener('recovered', reload);
      window.removeEventListener('online', reload);
    };
  }, [failure, reload]);

  useEffect(() => {
    if (everySeconds === undefined || pause) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') reload();
    }, everySeconds * 1000);
    return () => clearInterval(timer);
  }, [everySeconds, pause, reload]);

  return {
    data,
    // While the sign-in dialog is open, it alone reports the expired session.
    failure: isExpired && data !== undefined ? undefined : failure,
    loading: data === undefined && !failure && !pause,
    stale: fetching || stale,
    previous: data !== undefined && held.current?.question !== question,
    reload,
  };
}

export type Outcome<Data> = { data: Data; failure?: undefined } | { data?: undefined; failure: Failure };

/** A mutation and whether it is in flight. Prompts for sign-in where required, then retries. */
export function useWrite<Data, Variables extends AnyVariables>(
  mutation: TypedDocumentNode<Data, Variables>,
): [write: (variables: Variables) => Promise<Outcome<Data>>, busy: boolean] {
  const urql = useClient();
  const [busy, setBusy] = useState(false);
  const write = useCallback(
    async (variables: Variables): Promise<Outcome<Data>> => {
      setBusy(true);
      try {
        for (;;) {
          const { data, error } = await urql.mutation(mutation, variables, everything).toPromise();
          if (!error && data) {
            recovered.dispatchEvent(new Event('recovered'));
            return { data };
          }
          const failure: Failure = error ? failureOf(error) : { code: 'unknown', message: 'The answer was empty.' };
          const why = { unauthenticated: 'expired', 'reauthentication-required': 'fresh' } as const;
          const reason = why[failure.code as keyof typeof why];
          if (reason === undefined) return { failure };
          if (!(await signInAgain(reason))) {
            return { failure: { ...failure, message: 'Nothing was changed: this needs you to sign in again first.' } };
          }
        }
      } finally {
        setBusy(false);
      }
    },
    [urql, mutation],
  );
  return [write, busy];
}

/** Runs a query once, outside the page's own data, for search as you type. */
export function useFetch(): <Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
) => Promise<Data | undefined> {
  const urql = useClient();
  return useCallback(
    async (query, variables) => (await urql.query(query, variables, everything).toPromise()).data,
    [urql],
  );
}
