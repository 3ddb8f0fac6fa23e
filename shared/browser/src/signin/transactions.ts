import type { ChallengeRequest, ChallengeResponse, SigninStep } from '@latchkey/contracts';
import { text } from '../arguments.ts';
import { type Application, createDeviceKey, type DeviceKey, normalizeUserid } from '../device-key.ts';
import { type ProofClaims, signProof } from '../device-proof.ts';
import { LatchkeyError } from '../error.ts';
import type { AuthenticateOptions } from '../inputs.ts';
import { createPkce } from '../pkce.ts';
import { type Answer, post, refused, unexpected } from '../transport.ts';
import {
  answers,
  type Begun,
  camelCased,
  encode,
  isOneOf,
  type ProofKind,
  restartCodes,
  type Setting,
  type Step,
  type Transaction,
} from './transaction.ts';

/** The pending sign-ins of this page over one connection: their challenges, device keys, proofs and nonces. */
export class Transactions {
  readonly #setting: Setting;
  readonly #pending = new Map<string, Transaction>();

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  find(userid: string): Transaction | undefined {
    return this.#pending.get(normalizeUserid(userid));
  }

  keep(transaction: Transaction): void {
    this.#pending.set(normalizeUserid(transaction.userid), transaction);
  }

  /** Ends the pending sign-in of one address, or all. */
  end(userid?: string): void {
    if (userid === undefined) this.#pending.clear();
    else this.#pending.delete(normalizeUserid(userid));
  }

  /** This API key's client, if an earlier challenge returned it. */
  async application(): Promise<Application | undefined> {
    return this.#setting.application ?? this.#setting.store.findApplication(this.#credential);
  }

  /** Requests a challenge bound to this browser's key, which is created first if missing. */
  async begin(userid: string, options: AuthenticateOptions): Promise<Transaction> {
    const { store } = this.#setting;
    let application = await this.application();
    // Retry with the returned client IDs if they were unknown or outdated.
    for (let round = 0; round < 3; round++) {
      const key = application && (await this.keyOf(application, userid));
      const begun = await this.challenge(options, key ? { jkt: key.kid } : {});
      const { issuer, clientId } = begun.application;
      if (key && application && issuer === application.issuer && clientId === application.clientId)
        return { ...begun, userid, key, options, newDevice: false, awaitsAuthenticate: false };
      application = begun.application;
      await store.saveApplication(this.#credential, application);
    }
    throw unexpected('challenge for changing clients');
  }

  /**
   * Requests a challenge, with PKCE if the client requires it.
   *
   * @param begun.jkt the device key it is bound to
   * @param begun.passkey whether to request the options of a passkey, too
   */
  async challenge(options: AuthenticateOptions, begun: { jkt?: string; passkey?: true }): Promise<Begun> {
    const { code_challenge } = options;
    const pkce = code_challenge ? undefined : await createPkce();
    const fields: ChallengeRequest = {
      code_challenge,
      code_challenge_method: code_challenge ? 'S256' : undefined,
      code_challenge_if_required: pkce?.codeChallenge,
      ...begun,
    };
    const answer = await this.#post('challenge', encode(fields), undefined, options.signal);
    if (answer.status === 'ERROR') {
      const error = refused(answer);
      if (error.code !== 'PKCE_REQUIRED' || !pkce) throw error;
      // An older service, which ignores the spare challenge.
      return { ...(await this.challenge({ ...options, code_challenge: pkce.codeChallenge }, begun)), ...pkce };
    }
    const response = answer as Partial<ChallengeResponse>;
    const { txn, nonce, issuer, project_id: projectId, client_id: clientId, time, expires_in = 600 } = response;
    if (!txn || !nonce || !issuer || !projectId || !clientId) throw unexpected('incomplete challenge');
    return {
      txn,
      nonce,
      application: { issuer, projectId, clientId },
      lifetime: expires_in * 1000,
      ahead: time ? time * 1000 - this.#setting.now() : 0,
      passkeyOptions: response.passkey_options,
      codeChallenge: code_challenge,
      ...(response.code_challenge_method && pkce),
    };
  }

  /** Key under which the store keeps this API key and base URL. */
  get #credential(): string {
    const { baseUrl, headers } = this.#setting.connection;
    return `${baseUrl} ${headers['X-Api-Key'] ?? ''}`;
  }

  /** The user's device key in this browser; created if missing. */
  async keyOf({ issuer, clientId }: Application, userid: string): Promise<DeviceKey> {
    const { store, now } = this.#setting;
    const owner = { issuer, clientId, userid: normalizeUserid(userid) };
    const existing = await store.findKey(owner);
    return existing ?? store.addKey(await createDeviceKey(owner, now(), store.isText));
  }

  /** The pending sign-in of an address. */
  current(userid: string): Transaction {
    const transaction = this.#pending.get(normalizeUserid(text(userid, 'userid')));
    if (transaction) return transaction;
    throw new LatchkeyError(
      'OUT_OF_ORDER',
      'user_action',
      'No pending sign-in for this address on this page. Call authenticate first.',
    );
  }

  /** Runs one step, with its proof if it has one; retries once if the nonce has expired. */
  async step<Result extends { status: string }>(
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
        'The device key was deleted during the sign-in. Call authenticate again.',
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
      if (!answer['passkey_offer']) this.#pending.delete(normalizeUserid(userid));
      if (options.rememberDevice === false) await store.removeKey(key);
      else await store.changeKey(key, { registered: true, usedAt: now() });
    }
    return result;
  }

  #forget(transaction: Begun & Partial<Transaction>): void {
    const userid = normalizeUserid(transaction.userid ?? '');
    // A later authenticate may have replaced it.
    if (this.#pending.get(userid) === transaction) this.#pending.delete(userid);
  }

  #post(step: SigninStep, body: Uint8Array<ArrayBuffer>, proof: string | undefined, signal: AbortSignal | undefined) {
    return post(this.#setting.connection, step, body, proof, signal);
  }
}
