import type {
  ChallengeRequest,
  ChallengeResponse,
  PasskeyCreationOptions,
  PasskeyOptionsRequest,
  PasskeyRequestOptions,
  SigninResponses,
  SigninStep,
} from '@latchkey/contracts';
import {
  type Application,
  createDeviceKey,
  type DeviceKey,
  type DeviceStore,
  normalizeUserid,
  type ProofClaims,
  signProof,
} from './device-key.ts';
import { LatchkeyError } from './error.ts';
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
import { exclusively, makePasskey, requestPasskey, signalAccepted, signalUnknown } from './passkeys.ts';
import { createPkce } from './pkce.ts';
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
} from './results.ts';
import { type Answer, type Connection, post, refused, unexpected } from './transport.ts';

/** Environment of a sign-in. */
export type Setting = {
  connection: Connection;
  store: DeviceStore;
  /** The page's origin, as sent in `Origin`. */
  origin: string;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Known in advance on the hosted page; otherwise returned by the first challenge. */
  application?: Application | undefined;
};

/** A transaction as its challenge begins it; a sign-in by passkey alone needs no more. */
type Begun = {
  txn: string;
  nonce: string;
  application: Application;
  /** Milliseconds from the challenge until `txn` expires. */
  lifetime: number;
  /** PKCE challenge, from the page or created here. */
  codeChallenge: string | undefined;
  /** Verifier of a challenge created here. */
  codeVerifier: string | undefined;
  /** Milliseconds by which the service's clock is ahead of the page's, because proofs carry a timestamp. */
  ahead: number;
  /** For one sign-in by passkey, if requested. */
  passkeyOptions: PasskeyRequestOptions | undefined;
};
/** One pending sign-in of an address, from its challenge to its end, in memory only. */
type Transaction = Begun & {
  userid: string;
  key: DeviceKey;
  options: AuthenticateOptions;
  /**
   * Registered in this sign-in. Stored as trusted only at its end: a restart before that, for example after a mistyped
   * phone number, verifies the address again.
   */
  newDevice: boolean;
  /** Set by DEVICE_REGISTERED: the next `authenticate` continues this transaction. */
  awaitsAuthenticate: boolean;
};
type ProofKind = 'registration' | 'use' | undefined;

/** Milliseconds before a transaction expires in which its passkey request is replaced. */
const renewal = 60_000;

type Step = Exclude<SigninStep, 'challenge'>;

/** Steps of the service and their possible statuses. */
const answers: { [S in Step]: readonly SigninResponses[S]['status'][] } = {
  authenticate: ['SUCCESS', 'OTP_NEEDED', 'MFA_REQUIRED', 'PASSKEY_ENROLLMENT_NEEDED', 'INVALID_EMAIL'],
  'passkey-options': ['PASSKEY_OPTIONS'],
  'verify-passkey': ['SUCCESS'],
  'register-passkey': ['SUCCESS', 'PASSKEY_REGISTERED'],
  'verify-email-otp': ['SUCCESS'],
  'verify-device': [
    'SUCCESS',
    'DEVICE_REGISTERED',
    'PASSKEY_ENROLLMENT_NEEDED',
    'MFA_ENROLLMENT_NEEDED',
    'FINALIZE_REGISTRATION_NEEDED',
  ],
  'initiate-mfa': ['MFA_INITIATED'],
  'verify-mfa': ['SUCCESS', 'PASSKEY_ENROLLMENT_NEEDED'],
  'change-phone-number': ['PHONE_CODE_SENT'],
  'verify-phone-number': ['PHONE_CHANGED'],
};

/**
 * Sign-in steps over one connection, with their transactions, device keys and nonces. `End` is the payload of SUCCESS:
 * a code in an application's page, a URL on the hosted page.
 */
export class Signin<End = CodeIssued> {
  readonly #setting: Setting;
  readonly #transactions = new Map<string, Transaction>();
  /** Whether the client requires PKCE, learned from a rejected challenge. */
  #needsPkce = false;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  /** Starts or restarts a sign-in; calling it again sends another code. */
  async authenticate(userid: string, options: AuthenticateOptions = {}): Promise<AuthenticateResult<End>> {
    const earlier = this.#transactions.get(normalizeUserid(text(userid, 'userid')));
    const continued = earlier?.awaitsAuthenticate ? earlier : undefined;
    const given = Object.entries(options).filter(([, value]) => value !== undefined);
    const merged: AuthenticateOptions = { ...continued?.options, signal: undefined, ...Object.fromEntries(given) };
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
    const transaction = await this.#begin(userid.trim(), merged);
    transaction.newDevice = continued !== undefined && continued.key.kid === transaction.key.kid;
    try {
      return await this.#authenticate(transaction);
    } catch (error) {
      if (!isOneOf(error, restartCodes)) throw error;
    }
    // The revoked key is deleted, or the PKCE requirement is known: retry once.
    return this.#authenticate(await this.#begin(userid.trim(), merged));
  }

  async #authenticate(transaction: Transaction): Promise<AuthenticateResult<End>> {
    const { key, newDevice, options, userid } = transaction;
    const answer = await this.#step<AuthenticateResult<End>>(
      transaction,
      'authenticate',
      { remember_device: options.rememberDevice, step_up: options.stepUp },
      key.registered || newDevice ? 'use' : undefined,
      options.signal,
    );
    transaction.awaitsAuthenticate = false;
    // Only after success: an error (rate limit) must not replace the pending sign-in.
    if (answer.status !== 'SUCCESS' || options.stepUp || 'passkeyOffer' in answer)
      this.#transactions.set(normalizeUserid(userid), transaction);
    // Delete the key of a malformed address.
    if (answer.status === 'INVALID_EMAIL' && !key.registered) await this.#setting.store.removeKey(key);
    return answer;
  }

  /** Verifies the code from the mail. */
  async verifyEmailOtp({ userid, otp, signal }: VerifyEmailOtpInput): Promise<VerifyEmailOtpResult> {
    return this.#step(this.#current(userid), 'verify-email-otp', { otp: pasted(otp) }, undefined, signal);
  }

  /** Registers this browser's key and the chosen second factor. */
  async verifyDevice(input: VerifyDeviceInput): Promise<VerifyDeviceResult<End>> {
    const { userid, mfaMethod, phoneNumber, signal } = input;
    const transaction = this.#current(userid);
    const answer = await this.#step<VerifyDeviceResult<End>>(
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
    return this.#step(this.#current(userid), 'initiate-mfa', fields, 'use', signal);
  }

  /** Verifies the second factor and completes the sign-in. */
  async verifyMfa({ userid, otp, remember_me, signal }: VerifyMfaInput): Promise<VerifyMfaResult<End>> {
    return this.#step(this.#current(userid), 'verify-mfa', { otp: pasted(otp), remember_me }, 'use', signal);
  }

  /** After a step-up's SUCCESS: sends a code to the new number. */
  async changePhoneNumber({ userid, phoneNumber, signal }: ChangePhoneNumberInput): Promise<ChangePhoneNumberResult> {
    const fields = { phone_number: text(phoneNumber, 'phoneNumber') };
    return this.#step(this.#current(userid), 'change-phone-number', fields, 'use', signal);
  }

  /** Verifies the code and replaces the number. */
  async verifyPhoneNumber({ userid, otp, signal }: VerifyPhoneNumberInput): Promise<VerifyPhoneNumberResult> {
    return this.#step(this.#current(userid), 'verify-phone-number', { otp: pasted(otp) }, 'use', signal);
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
          userid === undefined ? await this.#challenge(given, { passkey: true }) : this.#current(userid);
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
      return await this.#step(transaction, 'verify-passkey', { credential }, undefined, signal);
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
    const transaction = this.#current(userid);
    return exclusively(given, async (signal) => {
      const purpose = mediation ? 'conditional_registration' : 'registration';
      const options = await this.#passkeyOptions<PasskeyCreationOptions>(transaction, purpose, signal);
      const credential = await makePasskey(options, mediation, signal);
      const fields = { credential };
      const answer = await this.#step<PasskeyRegistered | Extract<CreatePasskeyResult<End>, { status: 'SUCCESS' }>>(
        transaction,
        'register-passkey',
        fields,
        undefined,
        signal,
      );
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
    return (await this.#step<Answered>(transaction, 'passkey-options', { purpose }, undefined, signal)).options;
  }

  /** Deletes one user's key, or all, and ends their pending sign-ins on this page. */
  async forgetDevice(userid?: string): Promise<ForgetDeviceResult> {
    const { store } = this.#setting;
    const wanted = userid === undefined ? undefined : normalizeUserid(text(userid, 'userid'));
    const application = this.#setting.application ?? (await store.findApplication(this.#credential));
    for (const key of application ? await store.listKeys(application) : []) {
      if (wanted === undefined || key.userid === wanted) await store.removeKey(key);
    }
    if (wanted === undefined) this.#transactions.clear();
    else this.#transactions.delete(wanted);
    return { status: 'FORGOTTEN', message: 'This browser is forgotten. The next sign-in asks for a code.' };
  }

  /** Requests a challenge bound to this browser's key, which is created first if missing. */
  async #begin(userid: string, options: AuthenticateOptions): Promise<Transaction> {
    const { store } = this.#setting;
    let application = this.#setting.application ?? (await store.findApplication(this.#credential));
    // Retry with the returned client IDs if they were unknown or outdated.
    for (let round = 0; round < 3; round++) {
      const key = application && (await this.#keyOf(application, userid));
      const begun = await this.#challenge(options, key ? { jkt: key.kid } : {});
      const { issuer, clientId } = begun.application;
      if (key && application && issuer === application.issuer && clientId === application.clientId)
        return { ...begun, userid, key, options, newDevice: false, awaitsAuthenticate: false };
      application = begun.application;
      await store.saveApplication(this.#credential, application);
    }
    throw unexpected('challenge for a different client on each attempt');
  }

  /**
   * Requests a challenge, with PKCE if the client requires it.
   *
   * @param begun.jkt the device key it is bound to
   * @param begun.passkey whether to request the options of a passkey, too
   */
  async #challenge(options: AuthenticateOptions, begun: { jkt?: string; passkey?: true }): Promise<Begun> {
    const pkce = this.#needsPkce && !options.code_challenge ? await createPkce() : undefined;
    const codeChallenge = options.code_challenge ?? pkce?.codeChallenge;
    const fields: ChallengeRequest = {
      code_challenge: codeChallenge,
      code_challenge_method: codeChallenge ? 'S256' : undefined,
      ...begun,
    };
    const answer = await this.#post('challenge', encode(fields), undefined, options.signal);
    if (answer.status === 'ERROR') {
      const error = refused(answer);
      if (error.code !== 'PKCE_REQUIRED' || codeChallenge) throw error;
      this.#needsPkce = true;
      return this.#challenge(options, begun);
    }
    const response = answer as Partial<ChallengeResponse>;
    const { txn, nonce, issuer, project_id: projectId, client_id: clientId, time, expires_in = 600 } = response;
    if (!txn || !nonce || !issuer || !projectId || !clientId) throw unexpected('challenge without a required member');
    return {
      txn,
      nonce,
      application: { issuer, projectId, clientId },
      lifetime: expires_in * 1000,
      ahead: typeof time === 'number' ? time * 1000 - this.#setting.now() : 0,
      codeChallenge,
      codeVerifier: pkce?.codeVerifier,
      passkeyOptions: response.passkey_options,
    };
  }

  /** Key under which the store keeps this API key and base URL. */
  get #credential(): string {
    const { baseUrl, headers } = this.#setting.connection;
    return `${baseUrl} ${headers['X-Api-Key'] ?? ''}`;
  }

  /** The user's device key in this browser; created if missing. */
  async #keyOf({ issuer, clientId }: Application, userid: string): Promise<DeviceKey> {
    const { store, now } = this.#setting;
    const owner = { issuer, clientId, userid: normalizeUserid(userid) };
    const existing = await store.findKey(owner);
    return existing ?? store.addKey(await createDeviceKey(owner, now()));
  }

  #current(userid: string): Transaction {
    const transaction = this.#transactions.get(normalizeUserid(text(userid, 'userid')));
    if (transaction) return transaction;
    throw new LatchkeyError(
      'OUT_OF_ORDER',
      'user_action',
      'No pending sign-in for this address on this page (a reload ends it). Call authenticate first.',
    );
  }

  /** Runs one step, with its proof if it has one; retries once if the nonce has expired. */
  async #step<Result extends { status: string }>(
    transaction: Begun & Partial<Transaction>,
    step: Step,
    fields: Record<string, unknown>,
    proof: ProofKind,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    const body = encode({ txn: transaction.txn, userid: transaction.userid, ...fields });
    for (let attempt = 1; ; attempt++) {
      const signed = proof && (await this.#prove(transaction as Transaction, step, proof, body));
      const answer = await this.#post(step, body, signed, signal);
      if (answer.nonce) transaction.nonce = answer.nonce;
      if (answer.status !== 'ERROR') {
        if (!(answers[step] as readonly unknown[]).includes(answer.status))
          throw unexpected(`status ${answer.status} from ${step}`);
        return this.#finish(transaction, step, answer) as Promise<Result>;
      }
      const error = refused(answer);
      if (error.code === 'NONCE_REJECTED' && answer.nonce && signed && attempt === 1) continue;
      if (error.code === 'DEVICE_REVOKED' && transaction.key) await this.#setting.store.removeKey(transaction.key);
      // The client has required PKCE since this transaction began.
      if (error.code === 'PKCE_REQUIRED') this.#needsPkce = true;
      if (isOneOf(error, ['TRANSACTION_EXPIRED', 'FLOW_EXPIRED', ...restartCodes])) this.#forget(transaction);
      throw error;
    }
  }

  async #prove(transaction: Transaction, act: Step, kind: 'registration' | 'use', body: Uint8Array<ArrayBuffer>) {
    const { store, origin, now } = this.#setting;
    const { ahead, application, codeChallenge, key, txn, nonce } = transaction;
    if ((await store.findKey(key))?.kid !== key.kid) {
      this.#forget(transaction);
      throw new LatchkeyError(
        'DEVICE_KEY_LOST',
        'user_action',
        'The device key was deleted during the sign-in, for example because site data was cleared. ' +
          'Call authenticate again.',
      );
    }
    const claims: ProofClaims = {
      act,
      aud: `${application.issuer}/${application.projectId}`,
      cid: application.clientId,
      org: origin,
      txn,
      nonce,
      cc: codeChallenge,
    };
    return signProof(key, kind, claims, body, now() + ahead);
  }

  /** Converts a response to the SDK's result; at the end of a sign-in, stores or deletes the key. */
  async #finish(transaction: Begun & Partial<Transaction>, step: Step, answer: Answer): Promise<unknown> {
    const { nonce: _, ...rest } = answer;
    const result = camelCased(rest) as Record<string, unknown>;
    const signedIn = answer.status === 'SUCCESS' && step !== 'verify-email-otp';
    if (signedIn) result['success'] = true;
    if (signedIn && transaction.codeVerifier) result['codeVerifier'] = transaction.codeVerifier;
    const { key, options, userid } = transaction;
    // A step-up continues after SUCCESS with the same key.
    const ends = signedIn
      ? !options?.stepUp
      : ['PHONE_CHANGED', 'PASSKEY_REGISTERED'].includes(answer.status as string);
    if (ends && key && options && userid) {
      const { store, now } = this.#setting;
      if (!answer['passkey_offer']) this.#transactions.delete(normalizeUserid(userid));
      if (options.rememberDevice === false) await store.removeKey(key);
      else await store.changeKey(key, { registered: true, usedAt: now() });
    }
    return result;
  }

  #forget(transaction: Begun & Partial<Transaction>): void {
    const userid = normalizeUserid(transaction.userid ?? '');
    // A later authenticate may have replaced it.
    if (this.#transactions.get(userid) === transaction) this.#transactions.delete(userid);
  }

  #post(step: SigninStep, body: Uint8Array<ArrayBuffer>, proof: string | undefined, signal: AbortSignal | undefined) {
    return post(this.#setting.connection, step, body, proof, signal);
  }
}

/** Errors that a new transaction resolves. */
const restartCodes = ['DEVICE_REVOKED', 'PKCE_REQUIRED'];

const isOneOf = (error: unknown, codes: string[]) => error instanceof LatchkeyError && codes.includes(error.code);

const encode = (fields: Record<string, unknown>) => new TextEncoder().encode(JSON.stringify(fields));

/** Converts snake_case members to camelCase. */
function camelCased(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([name, member]) => [name.replace(/_(.)/g, (_, c: string) => c.toUpperCase()), camelCased(member)]),
  );
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

const invalid = (message: string) => new LatchkeyError('INVALID_ARGUMENT', 'fatal', message);

function text(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw invalid(`${name} must be a string.`);
}

/** Removes whitespace from a pasted code. */
const pasted = (otp: string): string => text(otp, 'otp').replace(/\s/g, '');
