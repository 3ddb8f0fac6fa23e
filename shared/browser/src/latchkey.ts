import { LatchkeyError } from './error.ts';
import { indexedDbStore } from './indexed-db.ts';
import type {
  AuthenticateOptions,
  ChangePhoneNumberInput,
  InitiateMfaInput,
  VerifyDeviceInput,
  VerifyEmailOtpInput,
  VerifyMfaInput,
  VerifyPhoneNumberInput,
} from './inputs.ts';
import type {
  AuthenticateResult,
  ChangePhoneNumberResult,
  ForgetDeviceResult,
  InitializeResult,
  InitiateMfaResult,
  VerifyDeviceResult,
  VerifyEmailOtpResult,
  VerifyMfaResult,
  VerifyPhoneNumberResult,
} from './results.ts';
import { Signin } from './signin.ts';

export type LatchkeyOptions = {
  /** The version of the device proof. `v1`, the only one. */
  cryptoVersion?: string | undefined;
  /** Milliseconds until a request is given up. Default 15000. */
  timeoutMs?: number | undefined;
};
export type LatchkeyConfig = {
  /** The client's publishable key, `lk_pk_…`. */
  apiKey: string;
  /** The service's address. Default: the page's own origin. */
  baseUrl?: string | undefined;
  options?: LatchkeyOptions | undefined;
};

/** The browser SDK's operations. Every one of them rejects with a `LatchkeyError` and nothing else. */
export interface Latchkey {
  /** Must be called before any other operation. The same call again changes nothing. */
  init(config: LatchkeyConfig): Promise<InitializeResult>;
  init(apiKey: string, baseUrl?: string, options?: LatchkeyOptions): Promise<InitializeResult>;
  /** Another name of `init`. */
  initialize(config: LatchkeyConfig): Promise<InitializeResult>;
  initialize(apiKey: string, baseUrl?: string, options?: LatchkeyOptions): Promise<InitializeResult>;
  /** Begins a sign-in for an e-mail address; called again, sends another code. */
  authenticate(userid: string, options?: AuthenticateOptions): Promise<AuthenticateResult>;
  /** After OTP_NEEDED: proves the address with the code from the mail. */
  verifyEmailOtp(input: VerifyEmailOtpInput): Promise<VerifyEmailOtpResult>;
  /** After verifyEmailOtp: registers this browser, and a second factor where one is chosen. */
  verifyDevice(input: VerifyDeviceInput): Promise<VerifyDeviceResult>;
  /** After MFA_REQUIRED: starts the second factor. */
  initiateMfa(input: InitiateMfaInput): Promise<InitiateMfaResult>;
  /** After initiateMfa: ends the sign-in. */
  verifyMfa(input: VerifyMfaInput): Promise<VerifyMfaResult>;
  /** After the SUCCESS of an `authenticate` with `stepUp: 'change_phone_number'`: sends a code to the new number. */
  changePhoneNumber(input: ChangePhoneNumberInput): Promise<ChangePhoneNumberResult>;
  /** After changePhoneNumber: the new number takes the place of the old one. */
  verifyPhoneNumber(input: VerifyPhoneNumberInput): Promise<VerifyPhoneNumberResult>;
  /** Removes the keys of this API key from this browser, one person's or all. Nothing changes at the service. */
  forgetDevice(userid?: string): Promise<ForgetDeviceResult>;
}

/** A client of its own, beside the one that the module's functions share: one for each API key that a page uses. */
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
    // Frameworks run effects twice: the same settings again must not lose a sign-in under way.
    if (wanted !== current)
      signin = new Signin({ connection, store: indexedDbStore(), origin: location.origin, now: Date.now });
    current = wanted;
    return { status: 'INITIALIZED', message: 'Ready to sign people in.', success: true };
  }

  const ready = (): Signin => {
    if (signin) return signin;
    throw new LatchkeyError('NOT_INITIALIZED', 'fatal', 'Call init with your publishable API key first, and await it.');
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
    forgetDevice: async (userid) => ready().forgetDevice(userid),
  };
}

function readConfig({ apiKey, baseUrl, options }: LatchkeyConfig) {
  const { cryptoVersion = 'v1', timeoutMs = 15_000 } = options ?? {};
  const fail = (message: string): never => {
    throw new LatchkeyError('INVALID_ARGUMENT', 'fatal', message);
  };
  if (typeof apiKey !== 'string' || !apiKey) fail("apiKey is missing: give the client's publishable key, lk_pk_….");
  if (apiKey.startsWith('lk_sk_'))
    fail('apiKey is a secret key. Use the publishable one (lk_pk_…) here, and revoke this one: it was in a page.');
  if (cryptoVersion !== 'v1') fail(`cryptoVersion ${cryptoVersion} is unknown; use v1.`);
  if (!(timeoutMs > 0)) fail('timeoutMs must be a positive number of milliseconds.');
  return {
    baseUrl:
      readAddress(baseUrl) ?? fail('baseUrl must be the address of the service, such as https://id.example.com.'),
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

/** Refuses early where a device key can never work: no page, no WebCrypto, no storage. */
export async function checkBrowser(): Promise<void> {
  if (typeof window === 'undefined')
    throw new LatchkeyError(
      'NOT_A_BROWSER',
      'fatal',
      'The SDK works in a page only: call it in the browser, not while rendering on a server.',
    );
  if (!globalThis.crypto?.subtle)
    throw new LatchkeyError(
      'INSECURE_CONTEXT',
      'fatal',
      'The browser offers its cryptography to secure pages only: serve this one over https, or from localhost.',
    );
  await indexedDbStore().findApplication('');
}
