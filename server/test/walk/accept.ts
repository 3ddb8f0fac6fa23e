import type { ProofOf, Tab } from './browsers.ts';
import type { Change, Row } from './changes.ts';
import {
  accountsOf,
  allPieces,
  factorPiece,
  goodCode,
  mailPiece,
  personOf,
  piecesFor,
  plainCode,
  registeredBy,
  trustedDevices,
} from './evidence.ts';
import {
  type CodeModel,
  type Delivery,
  demand,
  fold,
  type Model,
  mailboxOf,
  type Piece,
  type Transaction,
} from './model.ts';
import { checkOffer, passkeyPiece, type Signed } from './passkeys.ts';
import { cookieIn, type Reply } from './wire.ts';

/** A sent step. */
export interface Sent {
  step: string;
  fields: Record<string, any>;
  proof: ProofOf | null;
  txn: Transaction;
  /** The response of the passkey in verify-passkey and register-passkey. */
  signed?: Signed | undefined;
}

/** Steps that a browser takes without its device key. */
export const keyless = /^(verify-email-otp|passkey-options|verify-passkey|register-passkey)$/;

/** Adds the evidence of an accepted step. Throws a violation if it was accepted without evidence. */
export function applyStep(model: Model, sent: Sent, reply: Reply, changes: readonly Change[]): void {
  const { txn, step, proof } = sent;
  const status: string = reply.json['status'];
  if (!keyless.test(step) && step !== 'authenticate') {
    demand(proof && proof.deviation === null, `${step} of ${txn.name} was accepted without a valid proof`);
    demand(proof.key.jkt === txn.jkt, `${step} of ${txn.name} was accepted with a different key than its own`);
  }
  if (step === 'authenticate') restart(model, sent, changes);
  appliers[step]?.(model, sent, status, reply);
  if (status === 'PASSKEY_ENROLLMENT_NEEDED') txn.owesPasskey = true;
  if (step === 'register-passkey' && status === 'SUCCESS') txn.pieces.push(createdPiece(model, sent, changes));
  learnEnd(model, sent, reply);
  noteMessages(model, sent, changes);
}

/**
 * A different address starts over with no evidence (decisions 11). After DEVICE_REGISTERED, a sign-in may continue in
 * another transaction of its key (service.md 3.3).
 */
function restart(model: Model, { txn, fields }: Sent, changes: readonly Change[]): void {
  if (fold(fields['userid']) !== txn.named) Object.assign(txn, { pieces: [], registered: [], earlier: null });
  const ended = changes.flatMap(({ table, old, new: row }) =>
    table === 'ceremonies' && old?.['finished_at'] === null && row?.['finished_at'] !== null ? [row?.['id']] : [],
  );
  const earlier = model.transactions.find(
    (one) =>
      one !== txn &&
      ended.includes(one.ceremony) &&
      one.jkt === txn.jkt &&
      one.client === txn.client &&
      one.origin === txn.origin &&
      one.request === txn.request,
  );
  txn.earlier = earlier ?? txn.earlier;
}

/** The end of a sign-in, and whether it continues with a new passkey. */
function learnEnd(model: Model, { txn, step }: Sent, reply: Reply): void {
  const isEnd = reply.json['status'] === 'SUCCESS' && step !== 'verify-email-otp';
  if (!isEnd) return;
  txn.endedAt = model.now;
  const isOffered = reply.json['passkey_offer'] === true;
  txn.opensPasskey = isOffered || (txn.stepUp === 'create_passkey' && step !== 'register-passkey');
  if (!isOffered) return;
  const user = personOf(model, txn) ?? '';
  checkOffer(model, txn, user, piecesFor(model, txn, user));
}

/** Evidence of a passkey that ended the sign-in that needed it. */
function createdPiece(model: Model, { txn, signed }: Sent, changes: readonly Change[]): Piece {
  demand(txn.owesPasskey, `${txn.name} ended with a new passkey that it did not need`);
  demand(signed?.isVerified, `${txn.name} ended with a new passkey that did not verify its user`);
  const row = changes.find(({ table, op }) => table === 'credentials' && op === 'INSERT')?.new;
  demand(row, `${txn.name} ended with a new passkey that was not stored`);
  return { kind: 'created', users: [row['user_id']], passkey: row['id'], at: model.now, step: model.step };
}

type Applier = (model: Model, sent: Sent, status: string, reply: Reply) => void;

const appliers: Record<string, Applier> = {
  authenticate: (model, { txn, fields, proof }, status) => {
    const userid = fold(fields['userid']);
    Object.assign(txn, { named: userid, stepUp: fields['step_up'] ?? null });
    model.asked.set(userid, (model.asked.get(userid) ?? 0) + 1);
    txn.remember = fields['remember_device'] ?? true;
    txn.askedStep = status === 'OTP_NEEDED' ? model.step : -1;
    if (status === 'OTP_NEEDED') return;
    demand(proof && proof.deviation === null, `authenticate of ${txn.name} answered ${status} without a valid proof`);
    const ofThisSignIn = allPieces(txn).flatMap((piece) => (piece.kind === 'key' ? piece.users : []));
    const trusted = trustedDevices(model, txn, userid, proof.key.jkt).map(({ user }) => user);
    // An address may name two users with this key, as the email of one and the user name of the other.
    const registered = ofThisSignIn.filter((user) => registeredBy(txn).includes(user));
    const proved = trusted.length > 0 ? trusted : ofThisSignIn;
    const users = [...new Set([...registered, ...proved])];
    demand(
      users.length > 0,
      `authenticate of ${txn.name} answered ${status} to a key that is not trusted for ${userid}`,
    );
    txn.jkt = proof.key.jkt;
    const method = trusted.length > 0 && registered.length === 0 ? 'trusted' : 'own';
    txn.pieces.push({ kind: 'key', users, jkt: txn.jkt, method, at: model.now, step: model.step });
  },
  'verify-email-otp': (model, { txn, fields }) => {
    txn.pieces.push(mailPiece(model, txn, fields['userid'], fields['otp']));
  },
  'verify-device': (model, { txn, proof }, status) => {
    if (!/^(SUCCESS|DEVICE_REGISTERED|PASSKEY_ENROLLMENT_NEEDED)$/.test(status)) return;
    const mail = txn.pieces.findLast(({ kind }) => kind === 'mail');
    const before = txn.pieces.findLast(({ kind }) => kind === 'key');
    const users = mail?.users ?? before?.users;
    demand(users, `verify-device of ${txn.name} was accepted without evidence`);
    txn.registeredStep = model.step;
    if (before) return;
    demand(proof?.kind === 'registration', `verify-device of ${txn.name} was accepted without a registration proof`);
    txn.pieces.push({ kind: 'key', users, jkt: txn.jkt, method: 'own', at: model.now, step: model.step });
  },
  'initiate-mfa': (model, { txn }, _status, reply) => {
    const secret = reply.json['totp']?.secret;
    if (typeof secret !== 'string') return;
    const mine = accountsOf(model, txn);
    const begun = [...model.enrolments.values()].filter(
      (one) => one.method === 'totp' && !one.verified && mine.includes(one.user),
    );
    // If several are pending: that of this transaction, or of an earlier one of this key.
    const own = begun.filter((one) => one.begunIn === txn.txn);
    const ofKey = begun.filter((one) => one.begunByKey === txn.jkt);
    const candidates = [own, ofKey, begun].find((some) => some.length > 0) ?? [];
    demand(candidates.length > 0, `initiate-mfa of ${txn.name} showed a secret without a pending factor`);
    const shown = candidates.filter(({ secrets }) => secrets.has(secret));
    const fresh = candidates.filter(({ secrets }) => secrets.size === 0);
    for (const one of [shown, fresh, candidates].find((some) => some.length > 0) ?? []) one.secrets.add(secret);
  },
  'verify-mfa': (model, { txn, fields }) => {
    const piece = factorPiece(model, txn, fields['otp']);
    txn.pieces.push(piece);
    if (!fields['remember_me']) return;
    for (const device of model.devices.values()) {
      if (device.jkt === txn.jkt && piece.users.includes(device.user)) device.mfaRememberedAt = model.now;
    }
  },
  'passkey-options': (model, { txn, fields }, _status, reply) => {
    const purpose = fields['purpose'] === 'registration' ? ('registration' as const) : ('sign-in' as const);
    const { challenge: value, rpId, rp } = reply.json['options'];
    demand(typeof value === 'string' && value.length >= 43, `${txn.name} got a short challenge`);
    demand(model.project(txn.client.project.id)['passkeys'], `${txn.name} got a challenge where passkeys are off`);
    demand((rpId ?? rp?.id) === new URL(txn.issuer).hostname, `${txn.name} got another RP ID`);
    txn.challenge = { value, purpose, isUsed: false };
  },
  'verify-passkey': (model, { txn, signed }) => {
    txn.pieces.push(passkeyPiece(model, txn, signed));
    if (txn.challenge) txn.challenge.isUsed = true;
  },
  'verify-phone-number': (model, { txn, fields }) => {
    const good = goodCode(model, txn.txn, 'phone', fields['otp']);
    demand(good, `${txn.name} changed a phone number by a code that the number did not receive`);
    good.isUsed = true;
  },
};

const purposes: Record<string, Delivery['purpose']> = {
  'sign-in-code': 'sign-in',
  'factor-code': 'factor',
  'phone-code': 'phone',
};

/** Records the recipient of each code; it must be the address currently on record. */
function noteMessages(model: Model, { txn, step, fields }: Sent, changes: readonly Change[]): void {
  for (const { table, op, new: row } of changes) {
    if (table !== 'messages' || op !== 'INSERT' || !row) continue;
    const purpose = purposes[row['template']];
    if (purpose === undefined) continue;
    model.waiting.set(row['id'], {
      ...{ reach: reachOf(model, txn, step, fields, row), purpose, owner: txn.txn, isUsed: false },
      ...{ madeAt: model.now, madeStep: model.step, nextStep: model.nextStep },
    });
  }
}

/** Mailboxes and numbers that a new code may be sent to, with the accounts that it proves. */
function reachOf(
  model: Model,
  txn: Transaction,
  step: string,
  fields: Record<string, any>,
  row: Row,
): Delivery['reach'] {
  const recipient = fold(row['recipient']);
  const mine = accountsOf(model, txn).map((id) => model.user(id));
  if (row['template'] === 'phone-code') {
    demand(
      recipient === fold(fields['phone_number'] ?? ''),
      `a phone code went to a different number than the new one`,
    );
    return new Map([[recipient, mine.map(({ id }) => id)]]);
  }
  const reach: Delivery['reach'] = new Map();
  const add = (to: string | null, user: Row) => void (to && reach.set(to, [...(reach.get(to) ?? []), user['id']]));
  if (row['template'] === 'factor-code') {
    for (const user of mine) {
      const own = [...model.enrolments.values()].filter((one) => one.user === user['id']);
      for (const to of new Set([mailboxOf(user), user['phone'], ...own.map(({ phone }) => phone)])) add(to, user);
    }
    demand(
      reach.has(recipient),
      `${step} of ${txn.name} sent a factor's code to ${recipient}, a recipient of another user`,
    );
    return reach;
  }
  for (const user of model.named(txn.client.project.id, txn.named ?? '')) add(mailboxOf(user), user);
  // An address without an account may sign up; being another user's user name proves nothing.
  const typed = txn.named ?? '';
  if (!reach.has(typed)) reach.set(typed, []);
  return reach;
}

/** Records the recovery codes and the authorization code of a response. */
export function applyResult(model: Model, sent: Sent, reply: Reply, changes: readonly Change[]): CodeModel | null {
  const { txn } = sent;
  const shown: string[] = reply.json['recovery_codes'] ?? [];
  const user = personOf(model, txn);
  if (shown.length > 0 && user !== undefined) keepRecoveryCodes(model, user, shown);
  const isEnd = reply.json['status'] === 'SUCCESS' && sent.step !== 'verify-email-otp';
  const code: string | undefined = isEnd ? reply.json['code'] : undefined;
  if (code === undefined) return null;
  const row = changes.findLast(({ table, op }) => table === 'authorization_codes' && op === 'INSERT')?.new;
  demand(row, `${sent.step} of ${txn.name} returned a code without storing it`);
  return codeOf(model, txn, code, row);
}

export function keepRecoveryCodes(model: Model, user: string, shown: readonly string[]): void {
  for (const [code, known] of model.recoveryCodes) if (known.user === user) model.recoveryCodes.delete(code);
  for (const code of shown) model.recoveryCodes.set(plainCode(code), { user, isUsed: false, set: model.step });
}

function codeOf(model: Model, txn: Transaction, code: string, row: Row): CodeModel {
  const known: CodeModel = {
    ...{ code, user: row['user_id'], client: txn.client, session: row['session_id'], amr: row['amr'] },
    ...{ authTime: Date.parse(row['auth_time']), step: model.step, at: model.now },
    ...{ verifier: txn.pkce?.verifier ?? null, redirectUri: null, isUsed: false, isReplayed: false },
    ...{ issuer: txn.issuer, scope: '' },
  };
  model.codes.push(known);
  return known;
}

/** Records the session of the cookie in a response. */
export function applyCookie(model: Model, tab: Tab, reply: Reply, changes: readonly Change[]): void {
  const project = tab.txn.client.project.id;
  const held = tab.browser.jar.cookies.get(`lk-session-${project}`);
  // Another reply may have replaced the cookie since.
  const secret = cookieIn(reply, `lk-session-${project}`) ?? held;
  const row = changes.findLast(
    ({ table, op, new: now }) => table === 'sessions' && op !== 'DELETE' && !now?.['ended_at'],
  );
  if (secret !== undefined && row?.new) model.cookies.set(secret, row.new['id']);
}
