import type { Change, Row } from './changes.ts';
import { factorsProve, isGranted, isOfPerson, piecesFor, registeredBy } from './evidence.ts';
import { demand, type Model, type Piece, type Transaction, toleranceMs } from './model.ts';

/** Claims of a finished sign-in, from the row of its code or session. */
export interface FinishClaims {
  user: string;
  amr: string[];
  authTime: number;
  /** Only for a session. */
  freshAt?: number | null;
}

export function finishClaims(row: Row): FinishClaims {
  const freshAt = row['fresh_at'] == null ? null : Date.parse(row['fresh_at']);
  return { user: row['user_id'], amr: row['amr'], authTime: Date.parse(row['auth_time']), freshAt };
}

/** A sign-in may finish for a user only with the evidence of its transaction, and may claim no more than that. */
export function checkFinish(model: Model, txn: Transaction, claims: FinishClaims): void {
  const { user } = claims;
  const pieces = piecesFor(model, txn, user);
  const has = (kind: Piece['kind']) => pieces.some((piece) => piece.kind === kind);
  const where = `${txn.name} ended for ${nameOf(model, user)}`;
  const dead = model.killed.get(user);
  const why = dead ? ` (${dead.why} at step ${dead.step})` : '';
  demand(pieces.length > 0, `${where}, without evidence for them${why}`);
  demand(model.user(user)['active'], `${where}, who is deactivated`);
  demand(!txn.client.isDisabled, `${where} by a disabled client`);
  // On the hosted page, the code decides: other applications share the session.
  demand(txn.request || model.hasAccess(user, txn.client), `${where}, who has no access`);
  demand(model.user(user)['project_id'] === txn.client.project.id, `${where}, of another project`);
  const foreign = txn.pieces.some(({ users }) => users.length > 0 && !users.includes(user));
  demand(!foreign, `${where} with evidence of another user`);
  const passkey = pieces.find(({ kind }) => kind === 'passkey');
  if (passkey) {
    checkPasskey(model, txn, user, passkey, where);
  } else {
    demand(has('key'), `${where} without a proof of the device key${why}`);
    demand(!model.revokedKeys.has(`${user} ${txn.jkt}`), `${where} by a revoked key`);
    demand(has('mail') || hasTrustedKey(txn, user), `${where} without a mail code and without a trusted device${why}`);
    checkFactor(model, txn, user, pieces, where);
  }
  const isProved = has('created') || passkey?.isVerified === true;
  demand(isProved || !model.requiresPasskey(user, txn.client), `${where} without the passkey that is required`);
  const needsPerson = txn.stepUp !== null || txn.request?.needsPerson;
  const person = pieces.some(isOfPerson);
  if (needsPerson) demand(person, `${where} by a device key alone, where a person was asked for`);
  if (passkey) checkPasskeyClaims(claims, passkey, where);
  else checkMethods(claims, pieces, !registeredBy(txn).includes(user) && !model.holdsPasskey(user), where);
  checkTimes(model, claims, pieces, where);
}

/** A passkey with PIN or biometrics is enough; without, it is one factor: only if one is enough. */
function checkPasskey(model: Model, txn: Transaction, user: string, piece: Piece, where: string): void {
  const passkey = model.passkeys.get(piece.passkey ?? '');
  demand(passkey?.user === user && !passkey.isRevoked, `${where} by a passkey that is revoked or not theirs`);
  if (piece.isVerified) return;
  const project = model.project(txn.client.project.id);
  demand(project['mfa_policy'] !== 'required', `${where} by a passkey without verification, where policy demands it`);
  demand(model.factorsOf(user).length === 0, `${where} by a passkey without verification, in place of their factor`);
}

function checkPasskeyClaims({ amr }: FinishClaims, { isSynced, isVerified }: Piece, where: string): void {
  const proved = [isSynced ? 'swk' : 'hwk', 'user', 'pop', ...(isVerified ? ['mfa'] : [])];
  demand(
    String(amr) === String(proved),
    `${where} with amr ${amr.join(' ')} by a passkey that proved ${proved.join(' ')}`,
  );
}

function hasTrustedKey(txn: Transaction, user: string): boolean {
  return txn.pieces.some((piece) => piece.kind === 'key' && piece.users.includes(user) && piece.method === 'trusted');
}

function checkFactor(model: Model, txn: Transaction, user: string, pieces: Piece[], where: string): void {
  const granted = isGranted(pieces);
  const met = granted || pieces.some(({ kind }) => kind === 'factor' || kind === 'recovery');
  const verified = pieces.flatMap(({ enrolments }) => enrolments ?? []);
  const isCreated = pieces.some(({ kind }) => kind === 'created');
  const isRecovered = granted || pieces.some(({ kind }) => kind === 'recovery');
  // A new passkey meets the policy; a recovery code or grant replaces the passkey of a person who has no factor.
  const isOther = isCreated || (isRecovered && model.countsPasskey(user));
  demand(isOther || model.meetsByFactor(user, verified), `${where} without a factor that the policy demands`);
  const isRequired = model.project(txn.client.project.id)['mfa_policy'] === 'required';
  const isMailbox = pieces.some(({ kind }) => kind === 'mail') && !factorsProve(pieces);
  demand(
    !isRequired || !isMailbox || isCreated || granted || !model.countsPasskey(user),
    `${where} by the mailbox alone, though they have a passkey and the policy demands a factor`,
  );
  if (met || model.factorsOf(user).length === 0) return;
  if (isCreated && model.factorsOf(user).every(({ method }) => method === 'email')) return;
  demand(txn.stepUp === null && !txn.request?.needsPerson, `${where} without the factor, where a person was asked for`);
  const seconds = model.project(txn.client.project.id)['remember_mfa_seconds'];
  const remembered = [...model.devices.values()].some(
    ({ user: of, jkt, mfaRememberedAt }) =>
      of === user &&
      jkt === txn.jkt &&
      mfaRememberedAt !== null &&
      model.now - mfaRememberedAt < seconds * 1000 + toleranceMs,
  );
  demand(remembered, `${where} without the factor that they have`);
}

/**
 * Decisions 8: amr reflects evidence only; an email factor adds nothing on a device registered with the same mailbox,
 * nor for a user with a passkey.
 */
function checkMethods(claims: FinishClaims, pieces: Piece[], mayMail: boolean, where: string): void {
  const factors = pieces.filter(({ kind }) => kind === 'factor');
  const mails = pieces.some(({ kind }) => kind === 'mail');
  const recovered = pieces.some(({ kind }) => kind === 'recovery');
  const byMethod = (method: string) => factors.some((piece) => piece.method === method);
  const strong = byMethod('totp') || byMethod('sms') || (byMethod('email') && mayMail);
  const mayBe = new Set(['swk']);
  if (mails || byMethod('totp') || byMethod('email') || recovered) mayBe.add('otp');
  if (byMethod('sms')) mayBe.add('sms');
  if (strong || recovered) mayBe.add('mfa');
  const claimed = `${where} with amr ${claims.amr.join(' ')}`;
  for (const name of claims.amr) demand(mayBe.has(name), `${claimed}: ${name} was not proved`);
  demand(claims.amr.includes('swk'), `${claimed}: the device key is missing`);
  const isCertain = byMethod('totp') || byMethod('sms');
  demand(claims.amr.includes('mfa') || !isCertain, `${claimed}: the second factor is missing`);
  demand(claims.amr.includes('sms') || !byMethod('sms'), `${claimed}: the SMS is missing`);
  const plain = mails && factors.length === 0;
  demand(claims.amr.includes('otp') || !plain, `${claimed}: the mail code is missing`);
}

function checkTimes(model: Model, claims: FinishClaims, pieces: Piece[], where: string): void {
  const first = Math.min(...pieces.map(({ at }) => at)) - toleranceMs;
  const last = model.now + toleranceMs;
  demand(claims.authTime >= first && claims.authTime <= last, `${where} with an auth_time outside the sign-in`);
  if (claims.freshAt == null) return;
  demand(pieces.some(isOfPerson), `${where} as fresh, by a key that anyone may use`);
  const fits = claims.freshAt >= first && claims.freshAt <= last;
  demand(fits, `${where} with a freshness outside the sign-in`);
}

/** Owners of a row; for a sign-in without evidence, the accounts of its address. */
export function concerned(model: Model, { table, old, new: after }: Change): string[] {
  const row = (after ?? old) as Row;
  if (table === 'users') return [row['id']];
  if (table === 'ceremonies') return concernedBy(model, row);
  // A code also ends with its ceremony, which may have moved on to another address.
  if (table === 'one_time_codes') {
    return [row['user_id'], ...concernedBy(model, model.ceremonies.get(row['ceremony_id']) ?? {})];
  }
  return [row['user_id']];
}

function concernedBy(model: Model, ceremony: Row): string[] {
  if (ceremony['account_id'] != null) return [ceremony['account_id']];
  return model.named(ceremony['project_id'], ceremony['address'] ?? '').map(({ id }) => id);
}

export function nameOf(model: Model, user: string): string {
  return model.user(user)['user_name'] ?? user;
}

/** Time of the last mail code, factor or passkey with verification in this sign-in. */
export function personAt(model: Model, txn: Transaction, user: string): number | null {
  const at = piecesFor(model, txn, user).flatMap((piece) => (isOfPerson(piece) ? [piece.at] : []));
  return at.length > 0 ? Math.max(...at) : null;
}
