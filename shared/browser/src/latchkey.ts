import { fields, invalid, text } from './arguments.ts';
import type { DeviceStore } from './device-key.ts';
import { checkBrowser } from './environment.ts';
import { LatchkeyError } from './error.ts';
import { startSignIn } from './flow/flow.ts';
import type { SignIn, StartOptions } from './flow/state.ts';
import { guarded, untilAborted } from './guarded.ts';
import { indexedDbStore } from './indexed-db.ts';
import type {
  AuthenticateOptions,
  ChangePhoneNumberInput,
  CreatePasskeyInput,
  InitiateMfaInput,
  SignInWithPasskeyOptions,
  SignOutOptions,
  VerifyDeviceInput,
  VerifyEmailOtpInput,
  VerifyMfaInput,
  VerifyPhoneNumberInput,
} from './inputs.ts';
import type {
  AuthenticateResult,
  ChangePhoneNumberResult,
  CreatePasskeyResult,
  ForgetDeviceResult,
  InitializeResult,
  InitiateMfaResult,
  SignInWithPasskeyResult,
  SignOutResult,
  VerifyDeviceResult,
  VerifyEmailOtpResult,
  VerifyMfaResult,
  VerifyPhoneNumberResult,
} from './results.ts';
import { Signin } from './signin/signin.ts';

export type LatchkeyOptions = {
  /** Version of the device proof. `v1` is the only one. */
  cryptoVersion?: string | undefined;
  /** Timeout of each request, and of the browser's storage, in milliseconds. Default 15000. */
  timeoutMs?: number | undefined;
  /** Aborts `init`, which then throws `ABORTED`. */
  signal?: AbortSignal | undefined;
};
export type LatchkeyConfig = {
  /** The client's publishable key, `lk_pk_…`. */
  apiKey: string;
  /** The service's base URL. Default: the page's origin. */
  baseUrl?: string | undefined;
  options?: LatchkeyOptions | undefined;
};

/** Operations of the browser SDK. All reject with `LatchkeyError` only. */
export interface Latchkey {
  /** Required before any other operation. Repeating it with equal settings has no effect. */
  init(config: LatchkeyConfig): Promise<InitializeResult>;
  init(apiKey: string, baseUrl?: string, options?: LatchkeyOptions): Promise<InitializeResult>;
  /** Alias of `init`. */
  initialize(config: LatchkeyConfig): Promise<InitializeResult>;
  initialize(apiKey: string, baseUrl?: string, options?: LatchkeyOptions): Promise<InitializeResult>;
  /** Starts a sign-in for an email address; calling it again sends another code. */
  authenticate(userid: string, options?: AuthenticateOptions): Promise<AuthenticateResult>;
  /** After OTP_NEEDED: verifies the code from the mail. */
  verifyEmailOtp(input: VerifyEmailOtpInput): Promise<VerifyEmailOtpResult>;
  /** After verifyEmailOtp: registers this browser and, if chosen, a second factor. */
  verifyDevice(input: VerifyDeviceInput): Promise<VerifyDeviceResult>;
  /** After MFA_REQUIRED: starts the second factor. */
  initiateMfa(input: InitiateMfaInput): Promise<InitiateMfaResult>;
  /** After initiateMfa: completes the sign-in. */
  verifyMfa(input: VerifyMfaInput): Promise<VerifyMfaResult>;
  /** After the SUCCESS of `authenticate` with `stepUp: 'change_phone_number'`: sends a code to the new number. */
  changePhoneNumber(input: ChangePhoneNumberInput): Promise<ChangePhoneNumberResult>;
  /** After changePhoneNumber: verifies the code and replaces the number. */
  verifyPhoneNumber(input: VerifyPhoneNumberInput): Promise<VerifyPhoneNumberResult>;
  /** Signs in with a passkey, without an address; or, given a `userid`, as the second factor of its sign-in. */
  signInWithPasskey(options?: SignInWithPasskeyOptions): Promise<SignInWithPasskeyResult>;
  /** After the SUCCESS of `authenticate` with `stepUp: 'create_passkey'`: creates a passkey on this device. */
  createPasskey(input: CreatePasskeyInput): Promise<CreatePasskeyResult>;
  /** Deletes this API key's device keys from this browser, for one user or all. The service is not contacted. */
  forgetDevice(userid?: string): Promise<ForgetDeviceResult>;
  /** The user who last completed a sign-in in this browser, unless on a shared device. Undefined: none. */
  lastUser(): Promise<string | undefined>;
  /**
   * Starts a sign-in as a state machine over all prompts. Requires `init`.
   *
   * @throws LatchkeyError NOT_INITIALIZED, INVALID_ARGUMENT
   */
  start(options?: StartOptions): SignIn;
  /** Ends the pending sign-ins of this page. The session of the application's back end is not changed. */
  signOut(options?: SignOutOptions): Promise<SignOutResult>;
}

/** The environment of a client. */
export type Platform = {
  /** The origin of the page or app, in device proofs. */
  origin: () => string;
  /** Headers of every request. */
  headers?: Record<string, string>;
  store: (timeoutMs: number) => DeviceStore;
  /** @throws LatchkeyError if device keys cannot work */
  check: () => void;
};

/** Creates a separate client, for pages with more than one API key. */
export const createLatchkey = (): Latchkey =>
  createClient({
    origin: () => location.origin,
    store: (timeoutMs) => indexedDbStore({ timeoutMs }),
    check: checkBrowser,
  });

export function createClient({ check, headers, origin, store: storeOf }: Platform): Latchkey {
  let signin: Signin | undefined;
  let current: string | undefined;

  const init = guarded(
    async (first: LatchkeyConfig | string, baseUrl?: string, options?: LatchkeyOptions): Promise<InitializeResult> => {
      const { signal, ...connection } = readConfig(
        typeof first === 'string' ? { apiKey: first, baseUrl, options } : first,
      );
      const store = storeOf(connection.timeoutMs);
      await untilAborted(async () => {
        check();
        // Fails early if device keys cannot be stored.
        await store.findApplication('');
      }, signal);
      const wanted = JSON.stringify(connection);
      // React runs effects twice in development: repeating the same settings must not discard a pending sign-in.
      if (wanted !== current) {
        const own = { ...connection, headers: { ...connection.headers, ...headers } };
        signin = new Signin({ connection: own, store, origin: origin(), now: Date.now });
      }
      current = wanted;
      return { status: 'INITIALIZED', message: 'Ready to sign people in.', success: true };
    },
  );

  const ready = (): Signin => {
    if (signin) return signin;
    throw new LatchkeyError('NOT_INITIALIZED', 'fatal', 'Call init with your publishable API key and await it first.');
  };
  return {
    init,
    initialize: init,
    authenticate: guarded(async (userid, options = {}) => ready().authenticate(userid, fields(options, 'options'))),
    verifyEmailOtp: guarded(async (input) => ready().verifyEmailOtp(fields(input, 'input'))),
    verifyDevice: guarded(async (input) => ready().verifyDevice(fields(input, 'input'))),
    initiateMfa: guarded(async (input) => ready().initiateMfa(fields(input, 'input'))),
    verifyMfa: guarded(async (input) => ready().verifyMfa(fields(input, 'input'))),
    changePhoneNumber: guarded(async (input) => ready().changePhoneNumber(fields(input, 'input'))),
    verifyPhoneNumber: guarded(async (input) => ready().verifyPhoneNumber(fields(input, 'input'))),
    signInWithPasskey: guarded(async (options = {}) => ready().signInWithPasskey(fields(options, 'options'))),
    createPasskey: guarded(async (input) => ready().createPasskey(fields(input, 'input'))),
    forgetDevice: guarded(async (userid) => ready().forgetDevice(userid)),
    start: (options = {}) => startSignIn(ready(), fields(options, 'options'), Date.now),
    lastUser: guarded(async () => ready().lastUser()),
    signOut: guarded(async (options = {}) => {
      const client = ready();
      const { forgetDevice } = fields(options, 'options');
      client.endAll();
      // The browser's dialog no longer signs in by itself.
      await globalThis.navigator?.credentials?.preventSilentAccess?.().catch(() => undefined);
      if (forgetDevice) await client.forgetDevice();
      return { status: 'SIGNED_OUT', message: 'No sign-in is pending on this page.' };
    }),
  };
}

function readConfig(config: LatchkeyConfig) {
  const { apiKey, baseUrl, options = {} } = fields(config, 'The argument of init');
  const { cryptoVersion = 'v1', timeoutMs = 15_000, signal } = fields(options, 'options');
  if (String(apiKey).startsWith('lk_sk_'))
    throw invalid(
      'apiKey is a secret key. Use the publishable key (lk_pk_…), and revoke this one: it was exposed in a page.',
    );
  if (!/^lk_pk_[\w-]+$/.test(apiKey)) throw invalid("apiKey must be the client's publishable key (lk_pk_…).");
  if (cryptoVersion !== 'v1') throw invalid('cryptoVersion is not supported; use v1.');
  // A longer delay overflows: the browser's timer would fire immediately.
  if (!(typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs < 2 ** 31))
    throw invalid('timeoutMs must be a positive number of milliseconds.');
  const address = readAddress(baseUrl);
  if (!address) throw invalid('baseUrl must be the URL of the service, such as https://id.example.com.');
  return { baseUrl: address, headers: { 'X-Api-Key': apiKey }, credentials: 'omit' as const, timeoutMs, signal };
}

function readAddress(baseUrl: unknown = '/'): string | undefined {
  try {
    const { protocol, origin, pathname } = new URL(text(baseUrl, 'baseUrl'), globalThis.location?.href);
    return /^https?:$/.test(protocol) ? (origin + pathname).replace(/\/+$/, '') : undefined;
  } catch {
    return undefined;
  }
}
