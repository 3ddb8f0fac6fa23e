import { digest } from '../../src/domain/kernel/secret.ts';
import { endsFreshness, isPasskey } from './absorb.ts';
import { type Change, changedColumns, describeChange, type Row } from './changes.ts';
import { accountsOf, piecesFor } from './evidence.ts';
import { checkFinish, concerned, finishClaims, nameOf, personAt } from './finish.ts';
import { demand, fold, type Model, mailboxOf, type Transaction, toleranceMs, Violation } from './model.ts';
import { checkNewPasskey, mayAddPasskey, type Signed, stepUpMs } from './passkeys.ts';

/** A step of a transaction, with the request. */
export interface AcceptedStep {
  step: string;
  fields: Record<string, any>;
  txn: Transaction;
  /** The response of the passkey in verify-passkey and register-passkey. */
  signed?: Signed | undefined;
}

/** @param txn of a step that answers a WebAuthn challenge, which even a refused answer uses up */
export function checkRefusal(all: readonly Change[], what: string, txn?: Transaction): void {
  const changes = all.filter((change) => !txn || !usesUp(change, txn));
  demand(changes.length === 0, `${what} was refused and changed rows: ${changes.map(describeChange).join('; ')}`);
}

function usesUp(change: Change, { ceremony, challenge }: Transaction): boolean {
  const { table, old, new: row } = change;
  const isOnly = changedColumns(change).every((name) => name === 'passkey_challenge_hash');
  const isOwn = table === 'ceremonies' && isOnly && row?.['id'] === ceremony;
  return isOwn && row?.['passkey_challenge_hash'] === null && old?.['passkey_challenge_hash'] === hashOf(challenge);
}

function hashOf(challenge: Transaction['challenge']): string | null {
  return challenge && digest(challenge.value);
}

/** Checks each row changed by an accepted sign-in step against the evidence of its transaction. */
export function checkEffects(model: Model, taken: AcceptedStep, changes: readonly Change[]): void {
  for (const change of changes) {
    const rule = rules[change.table];
    if (!rule) throw new Violation(`${taken.step} of ${taken.txn.name} made an unexpected ${describeChange(change)}`);
    rule(model, taken, change);
  }
  const used = taken.txn.pieces.find(({ kind, step }) => kind === 'grant' && step === model.step);
  const isNoted = changes.some(({ table, new: row }) => table === 'recovery_grants' && row?.['id'] === used?.grant);
  demand(!used || isNoted, `${taken.step} of ${taken.txn.name} used a recovery without noting it`);
}

type Rule = (model: Model, taken: AcceptedStep, change: Change) => void;

/** The row must belong to a user with evidence in this transaction. */
function own(model: Model, { step, txn }: AcceptedStep, change: Change): string {
  const user = String((change.new ?? change.old)?.['user_id'] ?? (change.new ?? change.old)?.['id']);
  const proved = accountsOf(model, txn).includes(user);
  const dead = model.killed.get(user);
  const why = dead ? ` (${dead.why} at step ${dead.step})` : '';
  demand(
    proved,
    `${step} of ${txn.name}: ${describeChange(change)} of ${nameOf(model, user)}, without evidence for them${why}`,
  );
  return user;
}

const rules: Record<string, Rule> = {
  ceremonies: (model, taken, change) => {
    const { txn, step } = taken;
    const row = (change.new ?? change.old) as Row;
    const isOwn = txn.ceremony === null || row['id'] === txn.ceremony;
    if (isOwn) txn.ceremony = row['id'];
    demand(
      isOwn || isTheirs(model, txn, change),
      `${step} of ${txn.name} changed another transaction: ${describeChange(change)}`,
    );
    if (isOwn && change.new) checkCeremony(taken, change);
  },
  one_time_codes: (model, { txn, step }, change) => {
    const row = (change.new ?? change.old) as Row;
    const isOwn = row['ceremony_id'] === txn.ceremony;
    demand(
      isOwn || isTheirs(model, txn, change),
      `${step} of ${txn.name} changed a code of another transaction: ${describeChange(change)}`,
    );
  },
  messages: () => undefined,
  known_networks: (model, taken, change) => void own(model, taken, change),
  authorization_requests: () => undefined,
  users: checkUser,
  // Rows derived from the user's by triggers.
  user_emails: () => undefined,
  user_counts: () => undefined,
  projects: (_, taken, change) => {
    throw new Violation(`${taken.step} changed a project: ${describeChange(change)}`);
  },
  credentials: (model, taken, change) => (isPasskey(change) ? checkPasskey : checkDevice)(model, taken, change),
  enrolments: checkEnrolment,
  recovery_codes: (model, taken, change) => void own(model, taken, change),
  recovery_grants: (model, taken, change) => {
    const user = own(model, taken, change);
    const id = change.new?.['id'];
    const isUse = changedColumns(change).every((name) => /^(used_at|session_id)$/.test(name));
    const pieces = piecesFor(model, taken.txn, user);
    const isOwn = pieces.some(({ grant, step }) => grant === id && step === model.step);
    demand(isUse && isOwn, `${taken.step} of ${taken.txn.name} made an unexpected ${describeChange(change)}`);
  },
  refresh_grants: (model, taken, change) => {
    own(model, taken, change);
    const isEnd = change.op === 'UPDATE' && change.new?.['revoked_at'] !== null;
    demand(isEnd, `${taken.step} of ${taken.txn.name} made an unexpected ${describeChange(change)}`);
  },
  phone_changes: (model, taken, change) => {
    const user = own(model, taken, change);
    const isFresh = personAt(model, taken.txn, user) !== null;
    demand(isFresh || change.op === 'DELETE', `${taken.txn.name} began a phone change without a person`);
  },
  email_changes: (model, taken, change) => {
    own(model, taken, change);
    demand(change.op === 'DELETE', `${taken.txn.name} began a change of the address`);
  },
  authorization_codes: (model, taken, change) => {
    if (change.op === 'INSERT') return checkFinish(model, taken.txn, finishClaims(change.new as Row));
    own(model, taken, change);
  },
  sessions: checkSession,
};

/** The state of a transaction after its step: the step it awaits, and its lifetime. */
function checkCeremony({ txn, step, fields }: AcceptedStep, change: Change): void {
  const row = change.new as Row;
  const columns = changedColumns(change);
  const what = `${step} of ${txn.name}: ${describeChange(change)}`;
  const options = step === 'passkey-options';
  if (columns.includes('passkey_challenge_hash')) {
    const isUsed = row['passkey_challenge_hash'] === null;
    if (isUsed)
      demand(step === 'challenge' || /^(verify|register)-passkey$/.test(step), `${what}, a challenge was lost`);
    else demand(options && row['passkey_challenge_hash'] === hashOf(txn.challenge), `${what}, another challenge`);
  }
  if (options) demand(row['passkey_purpose'] === txn.challenge?.purpose, `${what}, for another purpose`);
  if (step === 'authenticate' && !txn.opensPasskey) {
    demand((row['step_up'] ?? null) === (fields['step_up'] ?? null), `${what}, another step-up`);
  } else if (columns.includes('step_up') && step !== 'challenge') {
    const isDone = step === 'register-passkey' && txn.owesPasskey && row['step_up'] === null;
    demand(
      isDone || (row['step_up'] === 'create_passkey' && txn.opensPasskey),
      `${what}, a step-up that was not offered`,
    );
  }
  if (row['state'] !== 'stepped_up') return;
  demand(txn.endedAt !== null && row['step_up'] !== null, `${what}, a step-up before the sign-in ended`);
  const isOpen = row['finished_at'] === null;
  const until = Date.parse(row['expires_at']);
  demand(!isOpen || until <= txn.endedAt + stepUpMs + toleranceMs, `${what}, a step-up that stays open`);
}

function checkPasskey(model: Model, taken: AcceptedStep, change: Change): void {
  const { txn, step, signed } = taken;
  const user = own(model, taken, change);
  const row = change.new as Row;
  const what = `${step} of ${txn.name}: ${describeChange(change)} of a passkey of ${nameOf(model, user)}`;
  demand(change.op !== 'DELETE', what);
  if (change.op === 'INSERT') {
    demand(step === 'register-passkey', what);
    return checkNewPasskey(model, { txn, signed }, row, piecesFor(model, txn, user));
  }
  const known = model.passkeys.get(row['id']);
  demand(step === 'verify-passkey' && signed && signed.credentialId === row['credential_id'], what);
  const strange = changedColumns(change).filter(
    (name) => !/^(sign_count|backed_up|user_verified|last_used_at)$/.test(name),
  );
  demand(strange.length === 0, `${what}, a sign-in`);
  demand(Number(row['sign_count']) === signed.signCount, `${what}, another counter`);
  demand(row['user_verified'] === known?.hasVerified, `${what}, a verification that did not take place`);
}

/** A new passkey is announced to its user. */
export function checkNotice(model: Model, { txn }: AcceptedStep, changes: readonly Change[]): void {
  const added = changes.find((change) => change.op === 'INSERT' && isPasskey(change))?.new;
  demand(added, `register-passkey of ${txn.name} added no passkey`);
  const to = mailboxOf(model.user(added['user_id']));
  const isNotified = changes.some(
    ({ table, new: row }) =>
      table === 'messages' && row?.['template'] === 'passkey-changed' && fold(row['recipient']) === to,
  );
  demand(isNotified, `register-passkey of ${txn.name} did not notify ${to}`);
}

/** Any other row must belong to a user with evidence in this transaction. */
function isTheirs(model: Model, txn: Transaction, change: Change): boolean {
  const mine = accountsOf(model, txn);
  return change.op !== 'INSERT' && concerned(model, change).some((user) => mine.includes(user));
}

function checkUser(model: Model, taken: AcceptedStep, change: Change): void {
  const { txn, step } = taken;
  if (change.op === 'INSERT') {
    const user = change.new as Row;
    const mail = txn.pieces.find((piece) => piece.kind === 'mail' && piece.users.length === 0);
    demand(mail, `${step} of ${txn.name} made an account whose mailbox was not proved`);
    demand(mail.mailbox === fold(user['email'] ?? ''), `${step} of ${txn.name} made an account for another mailbox`);
    demand(model.project(user['project_id'])['sign_up'] === 'open', `${txn.name} signed up where sign-up is closed`);
    mail.users.push(user['id']);
    mail.soleFor?.push(user['id']);
    return;
  }
  const user = own(model, taken, change);
  const columns = changedColumns(change).filter(
    (name) => !/^(last_sign_in_at|sign_in_hour|updated_at|version)$/.test(name),
  );
  if (columns.length === 0) return;
  const isPhone = columns.every((name) => name === 'phone' || name === 'attributes');
  demand(isPhone, `${step} of ${txn.name} changed ${columns.join(', ')} of ${nameOf(model, user)}`);
  checkPhone(model, user, change.new?.['phone']);
  if (step === 'verify-mfa' || step === 'verify-device') return;
  demand(personAt(model, txn, user) !== null, `${txn.name} changed a phone number without a person`);
}

/** An authoritative directory locks the phone numbers of its users (service.md 3.1), except of one who has none (decisions/0315). */
export function checkPhone(model: Model, userId: string, phone: unknown): void {
  const user = model.user(userId);
  const numbers = ((user['attributes']?.phoneNumbers ?? []) as { value: string }[]).map(({ value }) => value);
  const isOther = (user['phone'] !== null || numbers.length > 0) && !numbers.includes(String(phone));
  const isOfDirectory = user['provenance'] === 'scim' && model.project(user['project_id'])['scim_authoritative'];
  const isLocked = isOther && isOfDirectory;
  demand(!isLocked, `the number of ${user['user_name']}, which a directory locks, was changed`);
  const proved = model.deliveries.some((one) => one.isUsed && one.to === phone && one.purpose !== 'sign-in');
  demand(proved, `a number was put on record (${String(phone)}) that received no code`);
}

function checkDevice(model: Model, taken: AcceptedStep, change: Change): void {
  const { txn, signed, step } = taken;
  const user = own(model, taken, change);
  const row = change.new as Row;
  if (change.op === 'DELETE' || row['revoked_at'] !== null) return;
  const columns = changedColumns(change);
  // The first passkey that verifies its user clears the remembered factor on all devices.
  const isForgotten = columns.every((name) => name.startsWith('mfa_remembered_') && row[name] === null);
  if (change.op === 'UPDATE' && isForgotten && signed?.isVerified) return;
  demand(row['jkt'] === txn.jkt, `${step} of ${txn.name} changed a device of another key`);
  demand(change.old?.['revoked_at'] == null, `${step} of ${txn.name} brought a revoked key back`);
  const isNew = change.op === 'INSERT';
  if (!isNew && !columns.some((name) => /^(registered_at|client_id|user_id|suspended_at)$/.test(name))) return;
  demand(txn.registeredStep === model.step, `${step} of ${txn.name} registered a device`);
  const byMail = piecesFor(model, txn, user).some(({ kind }) => kind === 'mail');
  demand(byMail, `${step} of ${txn.name} registered a device of ${nameOf(model, user)} without their mail code`);
  demand(!model.revokedKeys.has(`${user} ${row['jkt']}`), `${step} of ${txn.name} registered a revoked key`);
}

function checkEnrolment(model: Model, taken: AcceptedStep, change: Change): void {
  const { txn, step } = taken;
  const user = own(model, taken, change);
  // Without a number, an SMS factor is suspended, and counts as none (decisions/0301).
  const isSuspended = change.old?.['method'] === 'sms' && change.old['phone'] === null;
  const before = isSuspended ? null : (change.old?.['verified_at'] ?? null);
  const after = change.new?.['verified_at'] ?? null;
  if (txn.request?.addsAuthenticator && change.op === 'INSERT' && change.new?.['device_id'] === null) {
    return checkApp(model, taken, change.new);
  }
  const columns = changedColumns(change);
  if (change.op === 'UPDATE' && columns.every((name) => /^last_(step|used_at)$/.test(name))) return;
  const isAgain = before !== null && after !== null;
  if (isAgain && columns.every((name) => /^(last_step|last_used_at|verified_at)$/.test(name))) return;
  const id = (change.new ?? change.old)?.['id'];
  const pieces = piecesFor(model, txn, user);
  const enrolled = pieces.some(
    ({ kind, enrolments = [] }) =>
      kind === 'recovery' || enrolments.some((one) => one !== id && model.enrolments.get(one)?.verified),
  );
  const byPerson = enrolled || pieces.some(({ kind }) => kind === 'mail');
  const what = `${step} of ${txn.name}: ${describeChange(change)} of ${nameOf(model, user)}`;
  const met = pieces.some(({ enrolments }) => enrolments?.includes(id));
  if (before !== null) demand(enrolled || met, `${what}, an enrolled factor, without a factor met in this transaction`);
  if (change.op === 'DELETE' && before === null) return;
  if (after === null || before !== null)
    return demand(byPerson || (before !== null && met), `${what}, by the device key alone`);
  const begun = model.enrolments.get(id);
  demand(met, `${what}: verified by a code that does not prove it`);
  demand(byPerson || continues(model, txn, begun), `${what}: a factor was added by the device key alone`);
  demand(begun && model.isAlive(user, begun.begunStep), `${what}: it was begun before ${model.killed.get(user)?.why}`);
}

/** An authenticator app of the account page: begun at the end of a sign-in whose evidence could add a passkey. */
function checkApp(model: Model, { step, txn }: AcceptedStep, row: Row): void {
  const what = `${step} of ${txn.name} began an authenticator app`;
  demand(txn.endedAt === model.now && row['verified_at'] === null, `${what} before the sign-in ended`);
  demand(mayAddPasskey(model, row['user_id'], piecesFor(model, txn, row['user_id'])), `${what} by too little evidence`);
}

/** service.md 3.3: DEVICE_REGISTERED is followed by authenticate, which is another transaction of the same key. */
function continues(
  model: Model,
  txn: Transaction,
  begun: { begunWithPerson: boolean; begunAt: number; begunByKey: string | null } | undefined,
): boolean {
  if (!begun) return false;
  return begun.begunWithPerson && begun.begunByKey === txn.jkt && model.now - begun.begunAt < 20 * 60_000 + 5_000;
}

function checkSession(model: Model, taken: AcceptedStep, change: Change): void {
  const { txn, step } = taken;
  const row = (change.new ?? change.old) as Row;
  const ends = change.op === 'UPDATE' && change.old?.['ended_at'] === null && row['ended_at'] !== null;
  // The previous session of this browser is replaced.
  if (ends && row['end_reason'] === 'replaced') return;
  if (ends || endsFreshness(change)) return void own(model, taken, change);
  demand(change.op !== 'DELETE', `${step} of ${txn.name} deleted a session`);
  demand(txn.entry !== 'sdk', `${step} of ${txn.name} made a session for a page of the SDK`);
  if (change.op === 'UPDATE' && changedColumns(change).every((name) => name === 'passkey_id')) {
    own(model, taken, change);
    const isNew =
      step === 'register-passkey' && taken.signed?.isVerified === true && change.old?.['passkey_id'] === null;
    return demand(isNew, `${step} of ${txn.name} made a session one of a passkey`);
  }
  const pieces = piecesFor(model, txn, row['user_id']);
  const proved = pieces.find(({ kind, isVerified }) => kind === 'created' || (kind === 'passkey' && isVerified));
  demand(
    row['passkey_id'] === (proved?.passkey ?? null),
    `${step} of ${txn.name} made a session of a passkey that was not used`,
  );
  const passkey = pieces.find(({ kind }) => kind === 'passkey');
  // A continued session keeps its device, and the passkey that it names.
  const device = passkey?.isVerified ? change.old?.['device_id'] : null;
  const isOfCredential = passkey
    ? row['device_id'] === (device ?? passkey.passkey)
    : model.devices.get(row['device_id'])?.jkt === txn.jkt || step === 'verify-device';
  demand(isOfCredential, `${step} of ${txn.name} made a session of another credential`);
  const claims = finishClaims(row);
  // A continued session keeps its time of user verification.
  const isKept = change.old !== null && change.old['fresh_at'] === row['fresh_at'];
  checkFinish(model, txn, isKept ? { ...claims, freshAt: null } : claims);
}
