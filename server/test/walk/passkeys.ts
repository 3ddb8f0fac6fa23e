import { SoftAuthenticator } from '../authenticator.ts';
import { factorsProve, isGranted } from './evidence.ts';
import { demand, type Model, type PasskeyModel, type Piece, type Transaction, toleranceMs } from './model.ts';

/** The data that an authenticator of the test signed. */
export interface Signed {
  kind: 'create' | 'get';
  /** Credential whose key signed; of a creation: the new one. */
  signer: string;
  /** Id in the response. */
  credentialId: string;
  challenge: string;
  origin: string;
  rpId: string;
  type: string;
  isPresent: boolean;
  isVerified: boolean;
  isSynced: boolean;
  signCount: number;
}

/** A response of an authenticator, as posted, and the signed data. */
export interface Response {
  credential: Record<string, any>;
  signed: Signed;
}

/** Options of `passkey-options`, and the transaction that received them. */
export interface Options {
  challenge: string;
  purpose: 'sign-in' | 'registration';
  json: Record<string, any>;
}

/** Deviations of a response. */
export interface Deviations {
  challenge?: string | undefined;
  origin?: string;
  rpId?: string;
  type?: string;
  isPresent?: boolean;
  isVerified?: boolean;
  isSynced?: boolean;
  signCount?: number;
  /** The id of another credential in place of the signer's. */
  claims?: string | undefined;
  userHandle?: string | null;
}

/** The authenticator of a person; synced ones share their keys between devices and count no uses. */
export class Authenticator {
  readonly soft = new SoftAuthenticator();
  readonly isSynced: boolean;
  private uses = 0;

  constructor(isSynced: boolean) {
    this.isSynced = isSynced;
  }

  holds(id: string): boolean {
    return this.soft.credentials.some((one) => one.id === id);
  }

  create(options: Options, issuer: string, deviations: Deviations = {}): Response {
    const json = { ...options.json, excludeCredentials: [] } as never;
    const signed = this.signed('create', options, issuer, deviations);
    const { origin, rpId, challenge, type } = signed;
    const flags = { UP: signed.isPresent, UV: signed.isVerified, BE: signed.isSynced };
    const over = { origin, rpId, challenge, type, flags, signCount: signed.signCount };
    const credential = this.soft.create(json, over) as Record<string, any>;
    return { credential, signed: { ...signed, signer: credential['id'], credentialId: credential['id'] } };
  }

  /** Signs with the credential of that id. */
  get(options: Options, issuer: string, credentialId: string, deviations: Deviations = {}): Response {
    const signed = { ...this.signed('get', options, issuer, deviations), signer: credentialId };
    const { origin, rpId, challenge, type, signCount } = signed;
    const sentId = deviations.claims ?? credentialId;
    const credential = this.soft.get(options.json as never, {
      ...{ origin, rpId, challenge, type, signCount, credentialId },
      ...{ flags: { UP: signed.isPresent, UV: signed.isVerified, BE: signed.isSynced } },
      ...{ json: { id: sentId, rawId: sentId } },
      ...('userHandle' in deviations && { userHandle: deviations.userHandle ?? null }),
    }) as Record<string, any>;
    return { credential, signed: { ...signed, credentialId: sentId } };
  }

  private signed(kind: Signed['kind'], { challenge }: Options, issuer: string, deviations: Deviations): Signed {
    if (!this.isSynced) this.uses += 1;
    return {
      ...{ kind, signer: '', credentialId: '', challenge: deviations.challenge ?? challenge },
      ...{ origin: deviations.origin ?? issuer, rpId: deviations.rpId ?? new URL(issuer).hostname },
      type: deviations.type ?? (kind === 'create' ? 'webauthn.create' : 'webauthn.get'),
      ...{ isPresent: deviations.isPresent ?? true, isVerified: deviations.isVerified ?? true },
      ...{ isSynced: deviations.isSynced ?? this.isSynced, signCount: deviations.signCount ?? this.uses },
    };
  }
}

/** Whether the page has the issuer's origin, or is one of an application that opted in. */
export function usesPasskeys({ origin, issuer, entry, client }: Transaction): boolean {
  return origin === new URL(issuer).origin || (entry === 'sdk' && client.relatedOrigins);
}

/** Checks a response that the server accepted: signed data, challenge and page. */
function checkSigned(
  model: Model,
  txn: Transaction,
  signed: Signed | undefined,
  kind: Signed['kind'],
  what: string,
): asserts signed is Signed {
  demand(signed, `${what} without a response of an authenticator`);
  const { challenge } = txn;
  const purpose = kind === 'get' ? 'sign-in' : 'registration';
  demand(signed.kind === kind && signed.type === `webauthn.${kind}`, `${what} by a response of another kind`);
  demand(challenge, `${what} without a challenge`);
  demand(signed.challenge === challenge.value, `${what} by a response to a challenge that is not outstanding here`);
  demand(challenge.purpose === purpose, `${what} by a challenge of a ${challenge.purpose}`);
  demand(!challenge.isUsed, `${what} by a challenge that was used before`);
  demand(signed.origin === txn.origin, `${what} by a response made on another origin`);
  demand(usesPasskeys(txn), `${what} on a page that cannot use passkeys`);
  demand(signed.rpId === new URL(txn.issuer).hostname, `${what} by a response for another relying party`);
  demand(signed.isPresent, `${what} without user presence`);
  demand(model.project(txn.client.project.id)['passkeys'], `${what} where the project does not use passkeys`);
}

/** Evidence of verify-passkey. Throws a violation if no live passkey signed the outstanding challenge. */
export function passkeyPiece(model: Model, txn: Transaction, signed: Signed | undefined): Piece {
  const what = `verify-passkey of ${txn.name} was accepted`;
  checkSigned(model, txn, signed, 'get', what);
  const passkey = model.passkeyOf(txn.client.project.id, signed.credentialId);
  demand(passkey, `${what} with a passkey that is revoked or not of this project`);
  demand(signed.signer === passkey.credentialId, `${what} by the key of another passkey`);
  demand(signed.isSynced === passkey.isSynced, `${what} though its backup eligibility changed`);
  demand(model.user(passkey.user)['active'], `${what} for a person who is deactivated`);
  const isCounted = signed.signCount > 0 || passkey.signCount > 0;
  const isCopy = isCounted && signed.signCount <= passkey.signCount;
  demand(passkey.isSynced || !isCopy, `${what} though its counter went back`);
  passkey.signCount = signed.signCount;
  passkey.hasVerified ||= signed.isVerified;
  return {
    ...{ kind: 'passkey', users: [passkey.user], passkey: passkey.id, isVerified: signed.isVerified },
    ...{ isSynced: passkey.isSynced, at: model.now, step: model.step },
  };
}

/** Whether this evidence allows adding a passkey for the user now. */
export function mayAddPasskey(model: Model, user: string, pieces: readonly Piece[]): boolean {
  if (factorsProve(pieces, model.holdsPasskey(user)) || isGranted(pieces)) return true;
  const isSole = !model.countsPasskey(user) && model.factorsOf(user).every(({ method }) => method === 'email');
  return isSole && pieces.some(({ kind, soleFor = [] }) => kind === 'mail' && soleFor.includes(user));
}

/** Checks that the answer's offer of a passkey is allowed. */
export function checkOffer(model: Model, txn: Transaction, user: string, pieces: readonly Piece[]): void {
  const what = `${txn.name} offered a passkey`;
  demand(txn.entry !== 'sdk', `${what} to a page of the SDK`);
  demand(txn.remember, `${what} on a shared device`);
  demand(model.project(txn.client.project.id)['passkeys'], `${what} where the project does not use passkeys`);
  demand(mayAddPasskey(model, user, pieces), `${what} to evidence that does not allow one`);
  const isAsked = txn.request?.addsPasskey === true || isGranted(pieces) || !model.countsPasskey(user);
  demand(isAsked, `${what} to a person who has one, unasked`);
}

/** Lifetime of a step-up after the sign-in. */
export const stepUpMs = 5 * 60_000;

/** Checks a new row of a passkey against the data that its authenticator signed and the evidence of its transaction. */
export function checkNewPasskey(
  model: Model,
  { txn, signed }: { txn: Transaction; signed?: Signed | undefined },
  row: Record<string, any>,
  pieces: readonly Piece[],
): void {
  const user: string = row['user_id'];
  const what = `register-passkey of ${txn.name}`;
  checkSigned(model, txn, signed, 'create', what);
  demand(row['credential_id'] === signed.credentialId, `${what} stored another credential`);
  demand(row['backup_eligible'] === signed.isSynced, `${what} stored another backup eligibility`);
  demand(row['user_verified'] === signed.isVerified, `${what} stored a verification that did not take place`);
  demand(Number(row['sign_count']) === signed.signCount, `${what} stored another counter`);
  demand(!model.knowsCredential(row['project_id'], signed.credentialId), `${what} took a credential that was taken`);
  demand(model.user(user)['active'], `${what} for a person who is deactivated`);
  if (txn.owesPasskey) {
    const isRecovered = isGranted(pieces) || pieces.some(({ kind }) => kind === 'recovery');
    const isFirst = !model.countsPasskey(user) || isRecovered;
    demand(isFirst, `${what} in place of the passkey that the person has`);
    return demand(mayAddPasskey(model, user, pieces), `${what} by evidence that does not allow one`);
  }
  demand(txn.endedAt !== null && txn.opensPasskey, `${what} after a sign-in that was not for it`);
  demand(model.now - txn.endedAt < stepUpMs + toleranceMs, `${what} long after the sign-in`);
  demand(mayAddPasskey(model, user, pieces), `${what} by evidence that does not allow one`);
}

export function passkeyFrom(row: Record<string, any>, step: number): PasskeyModel {
  return {
    ...{ id: row['id'], user: row['user_id'], project: row['project_id'], credentialId: row['credential_id'] },
    ...{ isSynced: row['backup_eligible'], hasVerified: row['user_verified'], signCount: Number(row['sign_count']) },
    ...{ step, isRevoked: false },
  };
}
