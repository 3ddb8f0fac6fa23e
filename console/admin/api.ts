import { type AnyVariables, Client, cacheExchange, fetchExchange, type TypedDocumentNode } from '@urql/core';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { type Failure, failureOf } from './failure.ts';
import { signInAgain } from './sign-in-again.ts';

/** How long the last answer took; undefined while the server is out of reach. */
export const pulse = { ms: 0 as number | undefined, listeners: new Set<() => void>() };

async function timed(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const begin = performance.now();
  try {
    const response = await fetch(input, init);
    pulse.ms = response.status >= 500 ? undefined : Math.round(performance.now() - begin);
    return response;
  } catch (error) {
    if (!init?.signal?.aborted) pulse.ms = undefined;
    throw error;
  } finally {
    for (const listener of pulse.listeners) listener();
  }
}

/** How many changes have been answered. */
let writes = 0;

/**
 * What is asked before a change and answered after it may tell of the time before; and urql asks nothing twice while it
 * is on its way, so that the page would go on telling it. It is asked again here.
 */
async function ofNow(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
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
  fetch: ofNow,
  preferGetMethod: false,
  fetchOptions: { headers: { 'X-Latchkey-Csrf': '1' } },
  // What is known is shown at once, and read again behind it: nobody looks at what was true an hour ago.
  requestPolicy: 'cache-and-network',
});

/** One kind for all that is read and written: after a write, everything on the page is read again. */
const everything = { additionalTypenames: ['Everything'] };

/** Told of each write that went through: what could not be read before may be there now. */
const recovered = new EventTarget();

export interface Read<Data> {
  data: Data | undefined;
  failure: Failure | undefined;
  /** Nothing to show yet. */
  loading: boolean;
  /** What is shown is being read again, or belongs to the question before. */
  stale: boolean;
  /** What is shown is the answer to the question before. */
  previous: boolean;
  reload(): void;
}

/**
 * What was read once stays while it is read again, and where that fails.
 *
 * @param options pause: not yet; everySeconds: read again so often while the page is in sight; keep: show the answer to
 *   the question before until the next one is there, as lists do
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
  // While it asks, or does not, urql still gives the answer to the question before.
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

  // The cache reads again after a write what it holds; what could not be read, it does not hold.
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
    // Until they have signed in again, or not, nobody is told more than the dialog tells.
    failure: isExpired && data !== undefined ? undefined : failure,
    loading: data === undefined && !failure && !pause,
    stale: fetching || stale,
    previous: data !== undefined && held.current?.question !== question,
    reload,
  };
}

export type Outcome<Data> = { data: Data; failure?: undefined } | { data?: undefined; failure: Failure };

/** A change, and whether it is on its way. Where it asks for a sign-in, that is done first, and the change then. */
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

/** Reads once, outside of a page's own data: for search as you type. */
export function useAsk(): <Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
) => Promise<Data | undefined> {
  const urql = useClient();
  return useCallback(
    async (query, variables) => (await urql.query(query, variables, everything).toPromise()).data,
    [urql],
  );
}
