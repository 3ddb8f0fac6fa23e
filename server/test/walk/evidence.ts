import { generateSync } from 'otplib';
import {
  type Delivery,
  type DeviceModel,
  demand,
  type EnrolmentModel,
  fold,
  type Model,
  type Piece,
  type RecoveryModel,
  type Transaction,
  toleranceMs,
} from './model.ts';

const codeLifeMs = 5 * 60_000;

/** Evidence of a transaction and of the transaction that it continues. */
export function allPieces(txn: Transaction): Piece[] {
  return [...(txn.earlier?.pieces ?? []), ...txn.pieces];
}

/** Users for whom the transaction, or the transaction that it continues, registered its key. */
export function registeredBy(txn: Transaction): string[] {
  return [...(txn.earlier?.registered ?? []), ...txn.registered];
}

/** Evidence of a transaction that is still valid for the user. */
export function piecesFor(model: Model, txn: Transaction, user: string): Piece[] {
  return allPieces(txn).filter((piece) => piece.users.includes(user) && model.isAlive(user, piece.step));
}

/**
 * Whether the evidence is more than a device key and the mailbox: an email factor adds nothing to a mail code, nor to a
 * passkey.
 */
export function factorsProve(pieces: readonly Piece[], hasPasskey = false): boolean {
  const isMailed = pieces.some(({ kind }) => kind === 'mail');
  return pieces.some(
    ({ kind, method, isVerified }) =>
      kind === 'recovery' ||
      (kind === 'passkey' && isVerified === true) ||
      (kind === 'factor' && (method !== 'email' || !(isMailed || hasPasskey))),
  );
}

/** Whether a recovery grant replaces a passkey or factor: only together with a mail code. */
export function isGranted(pieces: readonly Piece[]): boolean {
  return pieces.some(({ kind }) => kind === 'grant') && pieces.some(({ kind }) => kind === 'mail');
}

/**
 * Whether the piece proves that the person was present: false for a device key, and for a passkey without user
 * verification.
 */
export function isOfPerson({ kind, isVerified }: Piece): boolean {
  return kind !== 'key' && (kind !== 'passkey' || isVerified === true);
}

/** Normalizes a typed code: spaces, dashes and case are ignored. */
export function plainCode(typed: string): string {
  return typed.replace(/[\s-]/g, '').toUpperCase();
}

/** The delivered code that matches the typed one, if valid: same owner and purpose, unused, newest, not expired. */
export function goodCode(
  model: Model,
  owner: string,
  purpose: Delivery['purpose'],
  typed: string,
  by: (delivery: Delivery) => boolean = () => true,
): Delivery | undefined {
  const own = model.deliveries.filter((one) => one.owner === owner && one.purpose === purpose && by(one));
  return own.findLast(
    (one) => one.code === plainCode(typed) && !one.isUsed && model.now - one.madeAt < codeLifeMs + toleranceMs,
  );
}

/** Evidence of verify-email-otp. Throws a violation if no mailbox received that code for this transaction. */
export function mailPiece(model: Model, txn: Transaction, userid: string, typed: string): Piece {
  const good = goodCode(model, txn.txn, 'sign-in', typed);
  demand(good, `a mail code was accepted in ${txn.name} that no mailbox received for it`);
  const accounts = good.users.filter((id) => model.users.has(id));
  const typedAccounts = model.named(txn.client.project.id, fold(userid)).map(({ id }) => id as string);
  const isSame = fold(userid) === txn.named || accounts.some((id) => typedAccounts.includes(id));
  demand(isSame, `a mail code was accepted in ${txn.name} for ${userid}, while ${txn.named} was named`);
  if (good.users.length > 0) {
    const unmoved = accounts.some(
      (id) => model.isAlive(id, good.nextStep) && fold(mailboxOfUser(model, id)) === good.to,
    );
    demand(unmoved, `a mail code was accepted in ${txn.name} though its account changed since it was made`);
  }
  good.isUsed = true;
  const users = accounts.filter((id) => model.isAlive(id, good.nextStep));
  const soleFor = users.filter(
    (id) => !model.countsPasskey(id) && model.factorsOf(id).every(({ method }) => method === 'email'),
  );
  return { kind: 'mail', users, soleFor, mailbox: good.to, at: model.now, step: model.step };
}

function mailboxOfUser(model: Model, id: string): string {
  const user = model.user(id);
  return user['email'] ?? user['user_name'] ?? '';
}

/** Devices of this key that the current policy trusts, for accounts matching the address. */
export function trustedDevices(model: Model, txn: Transaction, userid: string, jkt: string): DeviceModel[] {
  const project = txn.client.project.id;
  const accounts = new Set(model.named(project, fold(userid)).map(({ id }) => id as string));
  return [...model.devices.values()].filter(
    (device) =>
      device.jkt === jkt &&
      accounts.has(device.user) &&
      device.project === project &&
      isOfPage(device, txn) &&
      !model.revokedKeys.has(`${device.user} ${jkt}`) &&
      isTrusted(model, device),
  );
}

/** A key of an application's page does not count on the hosted page, nor the reverse. */
export function isOfPage({ client, entry }: DeviceModel, txn: Transaction): boolean {
  return (txn.entry === 'sdk') === (entry === 'sdk') && (txn.entry !== 'sdk' || client === txn.client.id);
}

function isTrusted(model: Model, device: DeviceModel): boolean {
  const policy = model.project(device.project);
  const unused = model.now - device.lastUsedAt;
  const age = model.now - device.registeredAt;
  if (age >= policy['device_trust_days'] * 86_400_000 + toleranceMs) return false;
  if (device.suspendedAt !== null) return false;
  return device.isProved && device.remember && unused < policy['device_trust_seconds'] * 1000 + toleranceMs;
}

/** Evidence of verify-mfa: the enrolled factor that the typed code proves. */
export function factorPiece(model: Model, txn: Transaction, typed: string): Piece {
  const people = accountsOf(model, txn);
  const recovery = model.recoveryCodes.get(plainCode(typed));
  if (recovery && !recovery.isUsed && people.includes(recovery.user)) {
    recovery.isUsed = true;
    return { kind: 'recovery', users: [recovery.user], at: model.now, step: model.step };
  }
  const grant = model.recoveries.find((one) => plainCode(one.code) === plainCode(typed) && people.includes(one.user));
  if (grant) return grantPiece(model, txn, grant);
  const own = [...model.enrolments.values()].filter(({ user }) => people.includes(user));
  const met = own.filter((enrolment) => proves(model, txn, enrolment, typed));
  if (met[0]) {
    const { method, phone, user } = met[0];
    // Several pending enrolments of one number or mailbox are all proved by its code.
    const isSame = (one: EnrolmentModel) => one.user === user && one.method === method && one.phone === phone;
    const enrolments = (method === 'totp' ? met : own.filter(isSame)).map(({ id }) => id);
    return { kind: 'factor', users: [user], method, enrolments, at: model.now, step: model.step };
  }
  return demand(false, `a code was accepted as a factor in ${txn.name} that proves no factor`) as never;
}

/** Evidence of a recovery grant: open, after its waiting time, together with a mail code of the same transaction. */
function grantPiece(model: Model, txn: Transaction, grant: RecoveryModel): Piece {
  const what = `a recovery was used in ${txn.name}`;
  demand(grant.ended === null, `${what} though it was ${grant.ended}`);
  demand(model.now > grant.usableAt - toleranceMs, `${what} before its waiting time was over`);
  demand(model.now < grant.expiresAt + toleranceMs, `${what} after it expired`);
  const isMailed = piecesFor(model, txn, grant.user).some(({ kind }) => kind === 'mail');
  demand(isMailed, `${what} without a mail code of the same transaction`);
  grant.ended = 'used before';
  return { kind: 'grant', users: [grant.user], grant: grant.id, at: model.now, step: model.step };
}

/** Accounts with evidence in this transaction. */
export function accountsOf(model: Model, txn: Transaction): string[] {
  const all = new Set(txn.pieces.flatMap(({ users }) => users));
  return [...all].filter((user) => piecesFor(model, txn, user).length > 0);
}

/** The account that all evidence of this transaction names. */
export function personOf(model: Model, txn: Transaction): string | undefined {
  const all = allPieces(txn).filter(({ users }) => users.length > 0);
  return accountsOf(model, txn).find((user) => all.every(({ users }) => users.includes(user)));
}

function proves(model: Model, txn: Transaction, enrolment: EnrolmentModel, typed: string): boolean {
  if (enrolment.method !== 'totp') {
    const to = enrolment.method === 'sms' ? enrolment.phone : fold(mailboxOfUser(model, enrolment.user));
    const good = goodCode(model, txn.txn, 'factor', typed, (one) => one.to === to);
    if (good) good.isUsed = true;
    return good !== undefined;
  }
  return provesApp(model, enrolment, typed);
}

/** Whether the typed code is one of this authenticator app, at a time step that it has not used. */
export function provesApp(model: Model, enrolment: EnrolmentModel, typed: string): boolean {
  const steps = [...enrolment.secrets].map((secret) => totpStep(secret, typed, model.now));
  const step = steps.find((one) => one !== null);
  if (step === undefined || enrolment.usedSteps.has(step)) return false;
  enrolment.usedSteps.add(step);
  return true;
}

/** The time step of a TOTP code near the current time; null if none matches. */
function totpStep(secret: string, typed: string, nowMs: number): number | null {
  const token = plainCode(typed);
  if (!/^\d{6}$/.test(token)) return null;
  const present = Math.floor(nowMs / 30_000);
  const near = [0, -1, 1, -2, 2].map((offset) => present + offset);
  const found = near.find((step) => generateSync({ secret, epoch: step * 30 }) === token);
  return found ?? null;
}
