import type { PasskeyCreationOptions, PasskeyOptionsRequest, PasskeyRequestOptions } from '@latchkey/contracts';
import { given, invalid, pasted, text } from '../arguments.ts';
import { normalizeUserid } from '../device-key.ts';
import { LatchkeyError } from '../error.ts';
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
} from '../inputs.ts';
import { exclusively, makePasskey, requestPasskey, signalAccepted, signalUnknown } from '../passkeys.ts';
import type {
  AuthenticateResult,
  ChangePhoneNumberResult,
  CodeIssued,
  CreatePasskeyResult,
  ForgetDeviceResult,
  InitiateMfaResult,
  SignInWithPasskeyResult,
  VerifyDeviceResult,
  VerifyEmailOtpResult,
  VerifyMfaResult,
  VerifyPhoneNumberResult,
} from '../results.ts';
import { type Begun, isOneOf, restartCodes, type Setting, type Transaction } from './transaction.ts';
import { Transactions } from './transactions.ts';

/** Milliseconds before a transaction expires in which its passkey request is replaced. */
const renewal = 60_000;

/**
 * Sign-in steps over one connection, with their transactions, device keys and nonces. `End` is the payload of SUCCESS:
 * a code in an application's page, a URL on the hosted page.
 */
export class Signin<End = CodeIssued> {
  readonly #setting: Setting;
  readonly #transactions: Transactions;

  constructor(setting: Setting, transactions = new Transactions(setting)) {
    this.#setting = setting;
    this.#transactions = transactions;
  }

  /** Starts or restarts a sign-in; calling it again sends another code. */
  async authenticate(userid: string, options: AuthenticateOptions = {}): Promise<AuthenticateResult<End>> {
    const earlier = this.#transactions.find(text(userid, 'userid'));
    const continued = earlier?.awaitsAuthenticate ? earlier : undefined;
    const merged: AuthenticateOptions = { ...continued?.options, signal: undefined, ...given(options) };
    checkMethod(merged);

    // Proofs count within one transaction: after DEVICE_REGISTERED, continue it.
    const pending = continued?.options.code_challenge === merged.code_challenge ? continued : undefined;
    if (pending) {
      pending.options = merged;
      pending.newDevice = true;
      try {
        return await this.#authenticate(pending);
      } catch (error) {
        // The transaction has ended, or its response was lost.
        if (!isOneOf(error, ['TRANSACTION_EXPIRED', 'OUT_OF_ORDER', ...restartCodes])) throw error;
      }
    }
    const transaction = await this.#transactions.begin(userid.trim(), merged);
    transaction.newDevice = continued !== undefined && continued.key.kid === transaction.key.kid;
    try {
      return await this.#authenticate(transaction);
    } catch (error) {
      if (!isOneOf(error, restartCodes)) throw error;
    }
    // The revoked key is deleted, or the PKCE requirement is known: retry once.
    return this.#authenticate(await this.#transactions.begin(userid.trim(), merged));
  }

  async #authenticate(transaction: Transaction): Promise<AuthenticateResult<End>> {
    const { key, newDevice, options } = transaction;
    const answer = await this.#transactions.step<AuthenticateResult<End>>(
      transaction,
      'authenticate',
      { remember_device: options.rememberDevice, step_up: options.stepUp },
      key.registered || newDevice ? 'use' : undefined,
      options.signal,
    );
    transaction.awaitsAuthenticate = false;
    // Only after success: an error (rate limit) must not replace the pending sign-in.
    if (answer.status !== 'SUCCESS' || options.stepUp || 'passkeyOffer' in answer) this.#transactions.keep(transaction);
    // Delete the key of a malformed address.
    if (answer.status === 'INVALID_EMAIL' && !key.registered) await this.#setting.store.removeKey(key);
    return answer;
  }

  /** Verifies the code from the mail. */
  async verifyEmailOtp({ userid, otp, signal }: VerifyEmailOtpInput): Promise<VerifyEmailOtpResult> {
    return this.#transactions.step(
      this.#transactions.current(userid),
      'verify-email-otp',
      { otp: pasted(otp) },
      undefined,
      signal,
    );
  }

  /** Registers this browser's key and the chosen second factor. */
  async verifyDevice(input: VerifyDeviceInput): Promise<VerifyDeviceResult<End>> {
    const { userid, mfaMethod, phoneNumber, signal } = input;
    const transaction = this.#transactions.current(userid);
    const answer = await this.#transactions.step<VerifyDeviceResult<End>>(
      transaction,
      'verify-device',
      { mfa_method: mfaMethod, phone_number: phoneNumber },
      'registration',
      signal,
    );
    transaction.awaitsAuthenticate = answer.status === 'DEVICE_REGISTERED';
    return answer;
  }

  /** Starts the second factor: sends a code, or returns the secret for an authenticator app. */
  async initiateMfa({ userid, sessionId, signal }: InitiateMfaInput): Promise<InitiateMfaResult> {
    const fields = { session_id: text(sessionId, 'sessionId') };
    return this.#transactions.step(this.#transactions.current(userid), 'initiate-mfa', fields, 'use', signal);
  }

  /** Verifies the second factor and completes the sign-in. */
  async verifyMfa({ userid, otp, remember_me, signal }: VerifyMfaInput): Promise<VerifyMfaResult<End>> {
    return this.#transactions.step(
      this.#transactions.current(userid),
      'verify-mfa',
      { otp: pasted(otp), remember_me },
      'use',
      signal,
    );
  }

  /** After a step-up's SUCCESS: sends a code to the new number. */
  async changePhoneNumber({ userid, phoneNumber, signal }: ChangePhoneNumberInput): Promise<ChangePhoneNumberResult> {
    const fields = { phone_number: text(phoneNumber, 'phoneNumber') };
    return this.#transactions.step(this.#transactions.current(userid), 'change-phone-number', fields, 'use', signal);
  }

  /** Verifies the code and replaces the number. */
  async verifyPhoneNumber({ userid, otp, signal }: VerifyPhoneNumberInput): Promise<VerifyPhoneNumberResult> {
    return this.#transactions.step(
      this.#transactions.current(userid),
      'verify-phone-number',
      { otp: pasted(otp) },
      'use',
      signal,
    );
  }

  /**
   * Signs in with a passkey: of any user, or as the second factor of the pending sign-in of `userid`.
   *
   * @param onChosen called when the user has chosen a passkey, before the service verifies it
   */
  async signInWithPasskey(
    options: SignInWithPasskeyOptions = {},
    onChosen?: () => void,
  ): Promise<SignInWithPasskeyResult<End>> {
    const { userid, mediation } = options;
    checkMethod(options);
    return exclusively(options.signal, async (signal) => {
      for (;;) {
        const given = { ...options, signal };
        const transaction =
          userid === undefined
            ? await this.#transactions.challenge(given, { passkey: true })
            : this.#transactions.current(userid);
        // Suggestions without options: passkeys are not allowed. A request for the reason would write an event.
        if (mediation && !userid && !transaction.passkeyOptions)
          throw new LatchkeyError('PASSKEYS_NOT_ALLOWED', 'user_action', 'Passkeys cannot be used here.');
        const requested =
          transaction.passkeyOptions ??
          (await this.#passkeyOptions<PasskeyRequestOptions>(transaction, 'sign_in', signal));
        const lifetime = mediation && transaction.lifetime - renewal;
        const credential = await requestPasskey(requested, mediation, signal, lifetime);
        if (credential) {
          onChosen?.();
          return this.#verifyPasskey(transaction, requested.rpId, credential, signal);
        }
        // The suggestions were open until shortly before the transaction expires.
        await shown(signal);
      }
    });
  }

  async #verifyPasskey(
    transaction: Begun,
    rpId: string,
    credential: { id: string },
    signal: AbortSignal,
  ): Promise<SignInWithPasskeyResult<End>> {
    try {
      return await this.#transactions.step(transaction, 'verify-passkey', { credential }, undefined, signal);
    } catch (error) {
      if (isOneOf(error, ['PASSKEY_UNKNOWN'])) signalUnknown(rpId, credential.id);
      throw error;
    }
  }

  /**
   * After a step-up's SUCCESS, or one with an offer: creates a passkey on this device. After PASSKEY_ENROLLMENT_NEEDED it
   * also ends the sign-in.
   *
   * @param mediation `conditional`: without a dialog, or not at all
   */
  async createPasskey(
    { userid, signal: given }: CreatePasskeyInput,
    mediation?: 'conditional',
  ): Promise<CreatePasskeyResult<End>> {
    const transaction = this.#transactions.current(userid);
    return exclusively(given, async (signal) => {
      const purpose = mediation ? 'conditional_registration' : 'registration';
      const options = await this.#passkeyOptions<PasskeyCreationOptions>(transaction, purpose, signal);
      const credential = await makePasskey(options, mediation, signal);
      const fields = { credential };
      const answer = await this.#transactions.step<
        PasskeyRegistered | Extract<CreatePasskeyResult<End>, { status: 'SUCCESS' }>
      >(transaction, 'register-passkey', fields, undefined, signal);
      if (answer.status === 'SUCCESS') return answer;
      const { name, message, rpId, userHandle, credentialIds } = answer;
      signalAccepted(rpId, userHandle, credentialIds);
      return { status: 'PASSKEY_CREATED', message, name };
    });
  }

  /** A new challenge for one WebAuthn call. */
  async #passkeyOptions<Options>(
    transaction: Begun,
    purpose: PasskeyOptionsRequest['purpose'],
    signal: AbortSignal,
  ): Promise<Options> {
    type Answered = { status: 'PASSKEY_OPTIONS'; options: Options };
    return (await this.#transactions.step<Answered>(transaction, 'passkey-options', { purpose }, undefined, signal))
      .options;
  }

  /** The user who last signed in on this trusted browser. */
  async lastUser(): Promise<string | undefined> {
    const application = await this.#transactions.application();
    const keys = application ? await this.#setting.store.listKeys(application) : [];
    return keys.filter((key) => key.registered).sort((a, b) => b.usedAt - a.usedAt)[0]?.userid;
  }

  /** Ends the pending sign-ins of this page. */
  endAll(): void {
    this.#transactions.end();
  }

  /** Deletes one user's key, or all, and ends their pending sign-ins on this page. */
  async forgetDevice(userid?: string): Promise<ForgetDeviceResult> {
    const { store } = this.#setting;
    const wanted = userid === undefined ? undefined : normalizeUserid(text(userid, 'userid'));
    const application = await this.#transactions.application();
    for (const key of application ? await store.listKeys(application) : []) {
      if (wanted === undefined || key.userid === wanted) await store.removeKey(key);
    }
    this.#transactions.end(wanted);
    return { status: 'FORGOTTEN', message: 'This browser is forgotten. The next sign-in asks for a code.' };
  }
}

type PasskeyRegistered = {
  status: 'PASSKEY_REGISTERED';
  name: string;
  message: string;
  rpId: string;
  userHandle: string;
  credentialIds: string[];
};

/** Resolves when the page is visible: a hidden one shows no suggestions. */
async function shown(signal: AbortSignal): Promise<void> {
  while (globalThis.document?.hidden && !signal.aborted)
    await new Promise((resolve) => {
      document.addEventListener('visibilitychange', resolve, { once: true });
      signal.addEventListener('abort', resolve, { once: true });
    });
}

function checkMethod({ code_challenge_method }: AuthenticateOptions): void {
  if ((code_challenge_method ?? 'S256') !== 'S256') throw invalid('code_challenge_method must be S256.');
}
