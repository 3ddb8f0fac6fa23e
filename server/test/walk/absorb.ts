import { type Change, changedColumns, type Row } from './changes.ts';
import { accountsOf, factorsProve, isOfPage, piecesFor, registeredBy } from './evidence.ts';
import { personAt } from './finish.ts';
import { checkHands, type MayEnd } from './hands.ts';
import { type DeviceModel, demand, type Model, type Transaction, toleranceMs } from './model.ts';
import { passkeyFrom } from './passkeys.ts';

/** A device that a directory suspended for longer needs a mail code. */
const restorableMs = 30 * 86_400_000;

/** The step whose changes are absorbed. */
interface Step {
  /** For a step of a sign-in. */
  txn?: Transaction;
  /** Default: it may end no credential, factor or consent. */
  mayEnd?: MayEnd | undefined;
}

/** Any credential, factor or consent: the rules of the actor have checked each changed row. */
export const anyEnd: MayEnd = () => true;

/** Applies the changes of a step to the model, after the rules have checked them. */
export function absorb(model: Model, changes: readonly Change[], { txn, mayEnd }: Step = {}): void {
  // A sign-in that changes a number invalidates earlier transactions, not itself.
  for (const change of changes) if (change.table === 'sessions') absorbSession(model, change, txn);
  for (const change of changes) {
    if (change.table === 'users') absorbUser(model, change, txn !== undefined);
    if (change.table === 'credentials') (isPasskey(change) ? absorbPasskey : absorbDevice)(model, change, txn);
    if (change.table === 'enrolments') absorbEnrolment(model, change, txn);
    if (change.table === 'refresh_grants' && change.new?.['revoked_at'] != null) endGrant(model, change.new);
  }
  for (const { table, old, new: row } of changes) {
    if (table === 'consents') absorbOwn(model.consents, old, row);
    if (table === 'recovery_codes') absorbOwn(model.heldCodes, old, row);
    if (table === 'recovery_codes' && !row) dropCodes(model, old?.['user_id']);
  }
  for (const change of changes) checkSuspended(model, change);
  checkHands(model, changes, mayEnd);
  model.mirror(changes);
  for (const { table, old, new: row } of changes) {
    if (table === 'users') checkNumbers(model, (row ?? old)?.['id'], old?.['phone']);
    if (table === 'enrolments') checkNumbers(model, (row ?? old)?.['user_id']);
  }
  if (txn?.registeredStep === model.step) absorbRegistration(model, txn);
}

/** A row that a user owns: its user by its key. */
function absorbOwn(rows: Map<string, string>, old: Row | null, row: Row | null): void {
  const keyOf = (of: Row) => JSON.stringify([of['id'], of['user_id'], of['client_id']]);
  if (old) rows.delete(keyOf(old));
  if (row) rows.set(keyOf(row), row['user_id']);
}

/** The codes of a user who has none any more. */
function dropCodes(model: Model, id: string): void {
  if ([...model.heldCodes.values()].includes(id)) return;
  for (const [code, { user }] of model.recoveryCodes) if (user === id) model.recoveryCodes.delete(code);
}

/**
 * Codes by SMS go to the login phone of their user (decisions/0301), or to another number that the user enrolled. A user without
 * a login phone can enroll the number of another user. No one keeps a number that they have lost.
 */
function checkNumbers(model: Model, id: string, former?: string | null): void {
  const user = model.users.get(id);
  if (!user) return;
  const others = model.factorsOf(id).filter(({ method, phone, enrolledPhone }) => {
    if (method !== 'sms' || phone === null || phone === user['phone']) return false;
    const isOwn = user['phone'] === null || phone === enrolledPhone;
    return !isOwn || phone === former;
  });
  demand(others.length === 0, `codes of ${user['user_name']} are sent to a number other than the login phone`);
}

function endGrant(model: Model, row: Row): void {
  for (const grant of model.grants) if (grant.id === row['id']) grant.isEnded = true;
}

function absorbUser(model: Model, change: Change, bySignIn: boolean): void {
  if (change.op !== 'UPDATE') return;
  const id = change.new?.['id'];
  const changed = changedColumns(change);
  if (changed.includes('phone')) model.interrupted.set(id, model.step);
  // A first number may end open sign-ins, but need not.
  const moved = changed.filter((name) => /^(email_key|user_name_key|phone)$/.test(name) && change.old?.[name] !== null);
  if (moved.length > 0) model.kill(id, `change of ${moved.join(' and ')}`, bySignIn ? model.step - 0.5 : model.step);
  if (moved.some((name) => name !== 'phone')) model.endRecoveries(id, 'ended by a new login');
  if (!change.old?.['active'] || change.new?.['active']) return;
  model.kill(id, 'deactivation');
  model.endRecoveries(id, 'ended by a deactivation');
}

function absorbDevice(model: Model, { op, old, new: row }: Change, txn: Transaction | undefined): void {
  if (op === 'DELETE' || !row) return void model.devices.delete(old?.['id']);
  const { id, user_id: user, jkt } = row;
  if (row['revoked_at'] !== null) {
    model.devices.delete(id);
    if (old?.['revoked_at'] != null) return;
    model.revokedKeys.add(`${user} ${jkt}`);
    return model.kill(user, 'revocation of a device');
  }
  const known = model.devices.get(id);
  if (known) {
    suspend(model, known, row['suspended_at'] !== null);
    if (row['mfa_remembered_at'] === null) known.mfaRememberedAt = null;
  } else if (txn) {
    model.devices.set(id, {
      ...{ id, user, jkt, client: row['client_id'], project: row['project_id'], entry: txn.entry },
      ...{ remember: false, registeredAt: model.now, lastUsedAt: model.now, mfaRememberedAt: null },
      ...{ isProved: false, suspendedAt: null },
    });
  }
}

/** The step begins the device's trust again. Its row may not show that: two sign-ins may register one key at the same instant. */
function absorbRegistration(model: Model, txn: Transaction): void {
  const user = model.ceremonies.get(txn.ceremony ?? '')?.['account_id'];
  const device = [...model.devices.values()].find(
    (one) => one.user === user && one.jkt === txn.jkt && isOfPage(one, txn),
  );
  demand(device, `verify-device of ${txn.name} registered no device`);
  Object.assign(device, {
    ...{ remember: txn.remember, registeredAt: model.now, lastUsedAt: model.now, mfaRememberedAt: null },
    // Otherwise at the end of the sign-in; an optional factor may never be verified.
    ...{ isProved: !model.asksMore(user, txn.client), suspendedAt: null },
  });
  if (!txn.registered.includes(user)) txn.registered.push(user);
}

function suspend(model: Model, device: DeviceModel, isSuspended: boolean): void {
  const { suspendedAt } = device;
  device.suspendedAt = isSuspended ? (suspendedAt ?? model.now) : null;
  if (isSuspended) device.mfaRememberedAt = null;
  else if (suspendedAt !== null)
    demand(model.now - suspendedAt < restorableMs + toleranceMs, 'a device was restored after too long a suspension');
}

/** The devices of an inactive user are suspended until the activation. */
function checkSuspended(model: Model, { table, new: user }: Change): void {
  if (table !== 'users' || !user || user['active']) return;
  const isTrusted = [...model.devices.values()].some((one) => one.user === user['id'] && one.suspendedAt === null);
  demand(!isTrusted, `a device of ${user['user_name']} is trusted, though they are deactivated`);
}

export function isPasskey({ old, new: row }: Change): boolean {
  return (row ?? old)?.['kind'] === 'passkey';
}

function absorbPasskey(model: Model, { op, old, new: row }: Change): void {
  if (op === 'DELETE' || !row) return void model.passkeys.delete(old?.['id']);
  const known = model.passkeys.get(row['id']) ?? passkeyFrom(row, model.step);
  model.passkeys.set(known.id, known);
  // The first factor that verifies its user may end open sign-ins.
  if (row['user_verified'] && !old?.['user_verified']) model.interrupted.set(known.user, model.step);
  if (row['revoked_at'] === null || known.isRevoked) return;
  known.isRevoked = true;
  model.kill(known.user, 'revocation of a passkey');
}

function absorbEnrolment(model: Model, { op, old, new: row }: Change, txn: Transaction | undefined): void {
  if (op === 'DELETE' || !row) return void model.enrolments.delete(old?.['id']);
  const { id, user_id: user, method, phone } = row;
  const known = model.enrolments.get(id);
  // Without a number, an SMS factor is suspended, and counts as none (decisions/0301).
  const verified = row['verified_at'] !== null && !(method === 'sms' && phone === null);
  if (known) return void Object.assign(known, { phone, verified });
  model.enrolments.set(id, {
    ...{ id, user, method, phone, enrolledPhone: phone, verified, secrets: new Set() },
    ...{
      begunFor: row['ceremony_id'],
      begunIn: txn?.txn ?? null,
      begunStep: model.step,
      begunAt: model.now,
      begunByKey: txn?.jkt ?? null,
    },
    begunWithPerson: txn !== undefined && personAt(model, txn, user) !== null,
    usedSteps: new Set(),
  });
}

function absorbSession(model: Model, change: Change, txn: Transaction | undefined): void {
  const row = (change.new ?? change.old) as Row;
  const known = model.sessions.get(row['id']);
  if (change.op === 'DELETE' || row['ended_at'] !== null) {
    if (known) known.ended = true;
    return;
  }
  if (endsFreshness(change)) {
    if (known) known.isStale = true;
    return;
  }
  if (!txn) return;
  if (known && change.op === 'UPDATE' && changedColumns(change).every((name) => name === 'passkey_id')) {
    known.passkey = row['passkey_id'];
    return;
  }
  const user: string = row['user_id'];
  const pieces = piecesFor(model, txn, user);
  const at = personAt(model, txn, user);
  const isKept = at === null && known?.user === user;
  model.sessions.set(row['id'], {
    ...{ id: row['id'], user, project: row['project_id'], device: row['device_id'], amr: row['amr'], ended: false },
    ...{ authTime: Date.parse(row['auth_time']), step: model.step, passkey: row['passkey_id'] },
    personAt: isKept ? known.personAt : at,
    personStep: isKept ? known.personStep : model.step,
    isStale: isKept && known.isStale,
    hasFactor: isKept
      ? known.hasFactor
      : factorsProve(pieces) || pieces.some(({ kind }) => kind === 'factor' || kind === 'recovery'),
    recoveredAt: isKept ? known.recoveredAt : pieces.some(({ kind }) => kind === 'grant') ? model.now : null,
    isMfa: isKept ? known.isMfa : factorsProve(pieces, model.holdsPasskey(user)) && !isOfOneMailbox(txn, pieces, user),
  });
}

/** Its proof ends, because of a change to what proved it; the session continues. */
export function endsFreshness(change: Change): boolean {
  const isEnd = change.op === 'UPDATE' && change.new?.['fresh_at'] === null;
  return isEnd && changedColumns(change).every((name) => name.startsWith('fresh_'));
}

/** An email factor on a device that the same mailbox has just registered. */
function isOfOneMailbox({ registered }: Transaction, pieces: ReturnType<typeof piecesFor>, user: string): boolean {
  const others = pieces.filter(({ method }) => method !== 'email');
  return registered.includes(user) && !factorsProve(others);
}

/** The devices used by a finished transaction. */
export function noteUse(model: Model, txn: Transaction, isEnd: boolean): void {
  // A passkey signs in without the device key, except that of a device that the same sign-in registered.
  const isByPasskey = isEnd && txn.pieces.at(-1)?.kind === 'passkey';
  const people = isByPasskey ? registeredBy(txn) : accountsOf(model, txn);
  for (const device of model.devices.values()) {
    if (device.jkt !== txn.jkt || !people.includes(device.user)) continue;
    device.lastUsedAt = model.now;
    if (isEnd) device.isProved = true;
  }
}
