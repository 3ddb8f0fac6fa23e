import {
  createLatchkey,
  type LatchkeyError,
  type SignInAction,
  type SignInState,
  type StartOptions,
} from '@latchkey/browser';
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { useLatchkey } from './provider.ts';
import type { Session, SessionState } from './session.ts';

export type UseSession<User> = (
  | Exclude<SessionState, { status: 'signed-in' }>
  | { status: 'signed-in'; session: Session<User> }
) & {
  /** Reads the session again. Rejects with `SessionError`. */
  refresh(): Promise<void>;
  /** Ends the session; with `everywhere`, also the one at the service, by visiting its page. Rejects with `SessionError`. */
  signOut(options?: { everywhere?: boolean }): Promise<void>;
};

/** The session of the page. */
export function useSession<User = Session['user']>(): UseSession<User> {
  const { store } = useLatchkey();
  const state = useSyncExternalStore(store.subscribe, store.get, store.get);
  return useMemo(
    () => ({
      ...(state as SessionState & { session: Session<User> }),
      refresh: () => store.refresh(),
      signOut: async ({ everywhere = false } = {}) => {
        const location = await store.signOut();
        if (everywhere) window.location.assign(location);
      },
    }),
    [state, store],
  );
}

export interface UseSignIn {
  /** The state of the state machine `start()`; undefined until the SDK is ready. */
  state: SignInState | undefined;
  /** The user's action. Ignored until the SDK is ready. */
  send(action: SignInAction): void;
  /** The reason why the SDK is not ready, or why the back end began no session: offer {@link retry}. */
  error: Error | undefined;
  /** Begins again after `error`. */
  retry(): void;
  /**
   * Shows the session to the page. Called for you, except where `state` has `recoveryCodes`: call it when the user has saved
   * them.
   */
  finish(): void;
}

/** Your own form: show `state`, pass on the user's actions. Your back end begins the session by itself. */
export function useSignIn(options: StartOptions = {}): UseSignIn {
  const { apiKey, baseUrl, store } = useLatchkey();
  const [state, setState] = useState<SignInState | undefined>();
  const [error, setError] = useState<Error | undefined>();
  const running = useRef<{ send(action: SignInAction): void; finish(): void } | undefined>(undefined);
  const [attempt, setAttempt] = useState(0);
  const key = JSON.stringify(options);

  useEffect(() => {
    const ending = new AbortController();
    const latchkey = createLatchkey();
    const report = (thrown: unknown) => void (ending.signal.aborted || setError(thrown as Error));
    let release: Promise<() => Promise<void>> | undefined;
    const finish = () => void release?.then((show) => show()).catch(report);

    const show = (next: SignInState) => {
      setState(next);
      if (next.step !== 'success' || release) return;
      release = store.begin(next);
      release.catch(report);
      if (!next.recoveryCodes) finish();
    };
    latchkey
      .init({ apiKey, baseUrl, options: { signal: ending.signal } })
      .then(() => {
        if (ending.signal.aborted) return;
        const signIn = latchkey.start(JSON.parse(key) as StartOptions);
        ending.signal.addEventListener('abort', () => signIn.stop());
        running.current = { finish, send: (action) => signIn.send(action) };
        signIn.onStateChange(show);
        show(signIn.state);
      })
      .catch((thrown: LatchkeyError) => report(thrown));
    return () => {
      ending.abort();
      running.current = undefined;
      finish();
    };
  }, [apiKey, attempt, baseUrl, key, store]);

  const send = useCallback((action: SignInAction) => running.current?.send(action), []);
  const finish = useCallback(() => running.current?.finish(), []);
  const retry = useCallback(() => {
    setError(undefined);
    setState(undefined);
    setAttempt((before) => before + 1);
  }, []);
  return { state, send, error, retry, finish };
}
