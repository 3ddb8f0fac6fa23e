import { LatchkeyError } from './error.ts';
import { indexedDbStore } from './indexed-db.ts';
import type {
  AuthenticateOptions,
  ChangePhoneNumberInput,
  CreatePasskeyInput,
  InitiateMfaInput,
  SignInWithPasskeyOptions,
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
  VerifyDeviceResult,
  VerifyEmailOtpResult,
  VerifyMfaResult,
  VerifyPhoneNumberResult,
} from './results.ts';
import { Signin } from './signin.ts';

export type LatchkeyOptions = {
  /** Version of the device proof. `v1` is the only one. */
  cryptoVersion?: string | undefined;
  /** Request timeout in milliseconds. Default 15000. */
  timeoutMs?: number | undefined;
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
  /** Starts a sign-in for an e-mail address; calling it again sends another code. */
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
}

/** Creates a separate client, for pages with more than one API key. */
export function createLatchkey(): Latchkey {
  let signin: Signin | undefined;
  let current: string | undefined;

  async function init(
    first: LatchkeyConfig | string,
    baseUrl?: string,
    options?: LatchkeyOptions,
  ): Promise<InitializeResult> {
    const config = typeof first === 'string' ? { apiKey: first, baseUrl, options } : first;
    const connection = { ...readConfig(config), credentials: 'omit' as const };
    await checkBrowser();
    const wanted = JSON.stringify(connection);
    // React runs effects twice in development: repeating the same settings must not discard a pending sign-in.
    if (wanted !== current)
      signin = new Signin({ connection, store: indexedDbStore(), origin: location.origin, now: Date.now });
    current = wanted;
    return { status: 'INITIALIZED', message: 'Ready to sign people in.', success: true };
  }

  const ready = (): Signin => {
    if (signin) return signin;
    throw new LatchkeyError('NOT_INITIALIZED', 'fatal', 'Call init with your publishable API key and await it first.');
  };
  return {
    init,
    initialize: init,
    authenticate: async (userid, options) => ready().authenticate(userid, options),
    verifyEmailOtp: async (input) => ready().verifyEmailOtp(input),
    verifyDevice: async (input) => ready().verifyDevice(input),
    initiateMfa: async (input) => ready().initiateMfa(input),
    verifyMfa: async (input) => ready().verifyMfa(input),
    changePhoneNumber: async (input) => ready().changePhoneNumber(input),
    verifyPhoneNumber: async (input) => ready().verifyPhoneNumber(input),
    signInWithPasskey: async (options) => ready().signInWithPasskey(options),
    createPasskey: async (input) => ready().createPasskey(input),
    forgetDevice: async (userid) => ready().forgetDevice(userid),
  };
}

function readConfig({ apiKey, baseUrl, options }: LatchkeyConfig) {
  const { cryptoVersion = 'v1', timeoutMs = 15_000 } = options ?? {};
  const fail = (message: string): never => {
    throw new LatchkeyError('INVALID_ARGUMENT', 'fatal', message);
  };
  if (typeof apiKey !== 'string' || !apiKey) fail("apiKey is required: pass the client's publishable key (lk_pk_…).");
  if (apiKey.startsWith('lk_sk_'))
    fail('apiKey is a secret key. Use the publishable key (lk_pk_…), and revoke this one: it was exposed in a page.');
  if (cryptoVersion !== 'v1') fail(`cryptoVersion ${cryptoVersion} is not supported; use v1.`);
  if (!(timeoutMs > 0)) fail('timeoutMs must be a positive number of milliseconds.');
  return {
    baseUrl: readAddress(baseUrl) ?? fail('baseUrl must be the URL of the service, such as https://id.example.com.'),
    headers: { 'X-Api-Key': apiKey },
    timeoutMs,
  };
}

function readAddress(baseUrl = '/'): string | undefined {
  try {
    const { protocol, origin, pathname } = new URL(baseUrl, globalThis.location?.href);
    return /^https?:$/.test(protocol) ? (origin + pathname).replace(/\/+$/, '') : undefined;
  } catch {
    return undefined;
  }
}

/** Fails early if device keys cannot work: no page, no WebCrypto, no storage. */
export async function checkBrowser(): Promise<void> {
  if (typeof window === 'undefined')
    throw new LatchkeyError(
      'NOT_A_BROWSER',
      'fatal',
      'The SDK requires a browser: do not call it during server-side rendering.',
    );
  if (!globalThis.crypto?.subtle)
    throw new LatchkeyError(
      'INSECURE_CONTEXT',
      'fatal',
      'WebCrypto requires a secure context: serve the page over https or from localhost.',
    );
  await indexedDbStore().findApplication('');
}
