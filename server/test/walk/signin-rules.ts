import { type Change, changedColumns, describeChange, type Row } from './changes.ts';
import { accountsOf, piecesFor } from './evidence.ts';
import { claimedOf, concerned, judgeFinish, nameOf, personAt } from './finish.ts';
import { demand, fold, type Model, type Transaction, Violation } from './model.ts';

/** A step of a transaction, with the request. */
export interface Taken {
  step: string;
  fields: Record<string, any>;
  txn: Transaction;
}

export function judgeRefusal(changes: readonly Change[], what: string): void {
  demand(changes.length === 0, `${what} was refused and changed rows: ${changes.map(describeChange).join('; ')}`);
}

/** Checks each row changed by an accepted sign-in step against the evidence of its transaction. */
export function judgeEffects(model: Model, taken: Taken, changes: readonly Change[]): void {
  for (const change of changes) {
    const rule = rules[change.table];
    if (!rule) throw new Violation(`${taken.step} of ${taken.txn.name} made an unexpected ${describeChange(change)}`);
    rule(model, taken, change);
  }
}

type Rule = (model: Model, taken: Taken, change: Change) => void;

/** The row must belong to a user with evidence in this transaction. */
function own(model: Model, { step, txn }: Taken, change: Change): string {
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
  ceremonies: (model, { txn, step }, change) => {
    const row = (change.new ?? change.old) as Row;
    const isOwn = txn.ceremony === null || row['id'] === txn.ceremony;
    if (isOwn) txn.ceremony = row['id'];
    demand(
      isOwn || isTheirs(model, txn, change),
      `${step} of ${txn.name} changed another transaction: ${describeChange(change)}`,
    );
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
  users: judgeUser,
  // Rows derived from the user's by triggers.
  user_emails: () => undefined,
  user_counts: () => undefined,
  projects: (_, taken, change) => {
    throw new Violation(`${taken.step} changed a project: ${describeChange(change)}`);
  },
  devices: judgeDevice,
  enrolments: judgeEnrolment,
  recovery_codes: (model, taken, change) => void own(model, taken, change),
  phone_changes: (model, taken, change) => {
    const user = own(model, taken, change);
    const isFresh = personAt(model, taken.txn, user) !== null;
    demand(isFresh || change.op === 'DELETE', `${taken.txn.name} began a phone change without a person`);
  },
  authorization_codes: (model, taken, change) => {
    if (change.op === 'INSERT') return judgeFinish(model, taken.txn, claimedOf(change.new as Row));
    own(model, taken, change);
  },
  sessions: judgeSession,
};

/** Any other row must belong to a user with evidence in this transaction. */
function isTheirs(model: Model, txn: Transaction, change: Change): boolean {
  const mine = accountsOf(model, txn);
  return change.op !== 'INSERT' && concerned(model, change).some((user) => mine.includes(user));
}

function judgeUser(model: Model, taken: Taken, change: Change): void {
  const { txn, step } = taken;
  if (change.op === 'INSERT') {
    const user = change.new as Row;
    const mail = txn.pieces.find((piece) => piece.kind === 'mail' && piece.users.length === 0);
    demand(mail, `${step} of ${txn.name} made an account whose mailbox was not proved`);
    demand(mail.mailbox === fold(user['email'] ?? ''), `${step} of ${txn.name} made an account for another mailbox`);
    demand(model.project(user['project_id'])['sign_up'] === 'open', `${txn.name} signed up where sign-up is closed`);
    mail.users.push(user['id']);
    return;
  }
  const user = own(model, taken, change);
  const columns = changedColumns(change).filter((name) => !/^(last_sign_in_at|updated_at|version)$/.test(name));
  if (columns.length === 0) return;
  const isPhone = columns.every((name) => name === 'phone' || name === 'attributes');
  demand(isPhone, `${step} of ${txn.name} changed ${columns.join(', ')} of ${nameOf(model, user)}`);
  judgePhone(model, user, change.new?.['phone']);
  if (step === 'verify-mfa' || step === 'verify-device') return;
  demand(personAt(model, txn, user) !== null, `${txn.name} changed a phone number without a person`);
}

/** An authoritative directory locks the phone numbers of its users (service.md 3.1). */
export function judgePhone(model: Model, userId: string, phone: unknown): void {
  const user = model.user(userId);
  const isLocked = user['provenance'] === 'scim' && model.project(user['project_id'])['scim_authoritative'];
  demand(!isLocked, `the number of ${user['user_name']}, which a directory locks, was changed`);
  const proved = model.deliveries.some((one) => one.isUsed && one.to === phone && one.purpose !== 'sign-in');
  demand(proved, `a number was put on record (${String(phone)}) that received no code`);
}

function judgeDevice(model: Model, taken: Taken, change: Change): void {
  const { txn, step } = taken;
  const user = own(model, taken, change);
  const row = change.new as Row;
  if (change.op === 'DELETE' || row['revoked_at'] !== null) return;
  demand(row['jkt'] === txn.jkt, `${step} of ${txn.name} changed a device of another key`);
  demand(change.old?.['revoked_at'] == null, `${step} of ${txn.name} brought a revoked key back`);
  const isNew = change.op === 'INSERT';
  const wasMoved = !isNew && changedColumns(change).some((name) => /^(registered_at|client_id|user_id)$/.test(name));
  if (!isNew && !wasMoved) return;
  const byMail = piecesFor(model, txn, user).some(({ kind }) => kind === 'mail');
  demand(byMail, `${step} of ${txn.name} registered a device of ${nameOf(model, user)} without their mail code`);
  demand(!model.revokedKeys.has(`${user} ${row['jkt']}`), `${step} of ${txn.name} registered a revoked key`);
}

function judgeEnrolment(model: Model, taken: Taken, change: Change): void {
  const { txn, step } = taken;
  const user = own(model, taken, change);
  const before = change.old?.['verified_at'] ?? null;
  const after = change.new?.['verified_at'] ?? null;
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

/** service.md 3.3: DEVICE_REGISTERED is followed by authenticate, which is another transaction of the same key. */
function continues(
  model: Model,
  txn: Transaction,
  begun: { begunWithPerson: boolean; begunAt: number; begunByKey: string | null } | undefined,
): boolean {
  if (!begun) return false;
  return begun.begunWithPerson && begun.begunByKey === txn.jkt && model.now - begun.begunAt < 20 * 60_000 + 5_000;
}

function judgeSession(model: Model, taken: Taken, change: Change): void {
  const { txn, step } = taken;
  const row = (change.new ?? change.old) as Row;
  const ends = change.op === 'UPDATE' && change.old?.['ended_at'] === null && row['ended_at'] !== null;
  // The previous session of this browser is replaced.
  if (ends && row['end_reason'] === 'replaced') return;
  if (ends) return void own(model, taken, change);
  demand(change.op !== 'DELETE', `${step} of ${txn.name} deleted a session`);
  demand(txn.door !== 'sdk', `${step} of ${txn.name} made a session for a page of the SDK`);
  const claimed = claimedOf(row);
  // A continued session keeps its time of user verification.
  const isKept = change.old !== null && change.old['fresh_at'] === row['fresh_at'];
  judgeFinish(model, txn, isKept ? { ...claimed, freshAt: null } : claimed);
}
