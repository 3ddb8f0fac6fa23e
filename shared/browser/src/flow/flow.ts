import { failure } from '../guarded.ts';
import { hasPasskeys, passkeySupport } from '../passkey-support.ts';
import type { Signin } from '../signin/signin.ts';
import { type Effect, initial, isAvoidable, reduce, type SignInEvent } from './reduce.ts';
import type { SignIn, SignInState, StartOptions } from './state.ts';

/** Runs the machine: calls its effects, and keeps the time. */
export function startSignIn(signin: Signin, options: StartOptions, now: () => number): SignIn {
  const { userid, rememberDevice, suggestPasskeys, ...pkce } = options;
  const listeners = new Set<(state: SignInState) => void>();
  let machine = initial({ userid, rememberDevice, canUsePasskey: hasPasskeys() });
  let operation = new AbortController();
  let suggestions: AbortController | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  let isStopped = false;

  function dispatch(event: SignInEvent): void {
    if (isStopped) return;
    const before = machine.state;
    const { machine: next, effect } = reduce(machine, event);
    machine = next;
    if (effect) {
      operation.abort();
      suggestions?.abort();
      operation = new AbortController();
    }
    const { signal } = operation;
    if (machine.state !== before) for (const listener of [...listeners]) listener(machine.state);
    if (effect && effect !== 'abort') void run(effect.call, callOf(effect, signal), signal);
    keepTime();
    suggest();
  }

  function callOf(effect: Effect, signal: AbortSignal): Promise<unknown> {
    const { call, ...input } = { ...effect, signal };
    if (effect.call === 'authenticate')
      return signin.authenticate(effect.userid, { ...pkce, rememberDevice: effect.rememberDevice, signal });
    return signin[call]({ ...(call === 'signInWithPasskey' && pkce), ...input } as never);
  }

  /** Dispatches the outcome of a call, unless it was aborted. */
  async function run(call: Effect['call'], result: Promise<unknown>, signal: AbortSignal): Promise<void> {
    try {
      const event = { type: 'answered', call, result: await result, now: now() };
      if (!signal.aborted) dispatch(event as SignInEvent);
    } catch (thrown) {
      const error = failure(thrown);
      if (signal.aborted) return;
      if (machine.state.busy) dispatch({ type: 'failed', call, error, now: now() });
      // Of suggestions, none of which was chosen.
      else if (isAvoidable(error)) dispatch({ type: 'no-passkeys' });
    }
  }

  /** Runs the countdown of a code that was sent. */
  function keepTime(): void {
    const { state } = machine;
    const counts = !isStopped && state.step === 'code' && (state.resendIn ?? 0) > 0;
    if (counts === (timer !== undefined)) return;
    clearInterval(timer);
    timer = counts ? setInterval(() => dispatch({ type: 'tick', now: now() }), 1000) : undefined;
  }

  /** Offers passkeys in the suggestions of the address field while it is shown. */
  function suggest(): void {
    const { step, busy } = machine.state;
    if (!suggestPasskeys || !machine.canUsePasskey || step !== 'address' || busy || isStopped) return;
    if (suggestions && !suggestions.signal.aborted) return;
    const own = new AbortController();
    suggestions = own;
    void suggested(own.signal).finally(() => {
      // The next change of the state starts them again.
      if (suggestions === own) suggestions = undefined;
    });
  }

  async function suggested(signal: AbortSignal): Promise<void> {
    if (!(await passkeySupport()).autofill || signal.aborted) return;
    const chosen = () => dispatch({ type: 'passkey-chosen' });
    const result = signin.signInWithPasskey({ ...pkce, mediation: 'conditional', signal }, chosen);
    await run('signInWithPasskey', result, signal);
  }

  if (userid === undefined)
    signin.lastUser().then(
      (last) => last && dispatch({ type: 'remembered', userid: last }),
      () => undefined,
    );
  suggest();
  return {
    get state() {
      return machine.state;
    },
    onStateChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    send: (action) => dispatch(action),
    stop() {
      isStopped = true;
      operation.abort();
      suggestions?.abort();
      listeners.clear();
      keepTime();
    },
  };
}
