import type { Change, Row } from './changes.ts';
import { demand, type HeldIdentity, type Model, toleranceMs } from './model.ts';

/** For this long after the deactivation, a user may return under the former identity. */
const heldMs = 30 * 86_400_000;

/** Credentials, consents and grants of a person, which end with them. */
type Kind = 'device' | 'passkey' | 'factor' | 'recovery code' | 'consent';

/** Whether a step may end this, for a reason other than that the account passes to another person. */
export type MayEnd = (kind: Kind, row: Row) => boolean;

/**
 * Whether a step gives the account to another person. `must`: the user returns with another login address, phone or
 * `externalId`. `never`: the identity is unchanged. `may`: anything else, which the rows do not decide.
 */
type Passes = 'must' | 'may' | 'never';

const identity = ['email_key', 'user_name_key', 'phone', 'external_id'] as const;

/** Updates the held identities by a step, and checks what ended in it and what is left. */
export function checkHands(model: Model, changes: readonly Change[], mayEnd: MayEnd = () => false): void {
  const passes = new Map<string, Passes>();
  for (const change of changes) if (change.table === 'users') noteUser(model, change, passes);
  for (const change of changes) {
    const kind = ended(change);
    const row = change.old as Row;
    if (!kind || mayEnd(kind, row)) continue;
    const user: string = row['user_id'];
    const may = passes.get(user) ?? 'never';
    demand(may !== 'never', `a ${kind} of ${nameIn(model, user)} ended, though they did not give it up`);
  }
  for (const [user, passing] of passes) if (passing === 'must') checkPassed(model, user);
}

/** @param passes gets whether the account passes to another person */
function noteUser(model: Model, { old, new: row, op }: Change, passes: Map<string, Passes>): void {
  const id: string = (row ?? old)?.['id'];
  const held = model.heldIdentities.get(id);
  // All rows of an erased user end.
  if (op === 'DELETE') passes.set(id, 'may');
  if (!old || !row) return;
  if (old['active'] && !row['active']) {
    model.heldIdentities.set(id, { row: old, at: model.now, isRenamed: isRenamed(old, row) });
    return;
  }
  if (old['active']) return;
  if (held) held.isRenamed ||= isRenamed(old, row);
  passes.set(id, held ? passing(model, held, row) : 'may');
  if (row['active']) model.heldIdentities.delete(id);
}

function passing(model: Model, { at, row: held, isRenamed: wasRenamed }: HeldIdentity, row: Row): Passes {
  const isEarly = model.now - at < heldMs - toleranceMs;
  if (!row['active']) return isEarly || !wasRenamed ? 'never' : 'may';
  if (isOther(held, row)) return 'must';
  return !isRenamed(held, row) && (isEarly || !wasRenamed) ? 'never' : 'may';
}

/** Another identity without doubt. */
function isOther(was: Row, is: Row): boolean {
  const differs = (name: string) => was[name] !== null && is[name] !== null && was[name] !== is[name];
  const isLogin = [was, is].every((row) => String(row['user_name_key']).includes('@'));
  return differs('email_key') || differs('phone') || differs('external_id') || (isLogin && differs('user_name_key'));
}

function isRenamed(was: Row, is: Row): boolean {
  return identity.some((name) => was[name] !== is[name]);
}

/** Unverified factors and used recovery codes prove nothing. */
function ended({ table, old, new: row }: Change): Kind | null {
  if (!old) return null;
  if (table === 'credentials' && old['revoked_at'] === null && row?.['revoked_at'] !== null)
    return old['kind'] === 'passkey' ? 'passkey' : 'device';
  if (row) return null;
  if (table === 'enrolments' && old['verified_at'] !== null) return 'factor';
  if (table === 'recovery_codes' && old['used_at'] === null) return 'recovery code';
  return table === 'consents' ? 'consent' : null;
}

/** Nothing of the former person is left when the account passes to another one (decisions/0300). */
function checkPassed(model: Model, user: string): void {
  model.handOvers.set(user, model.step);
  model.kill(user, 'hand-over');
  const isTheirs = (one: { user: string }) => one.user === user;
  const left: Record<string, unknown[]> = {
    device: [...model.devices.values()].filter(isTheirs),
    passkey: model.passkeysOf(user),
    factor: [...model.enrolments.values()].filter(isTheirs),
    consent: [...model.consents.values()].filter((one) => one === user),
    'recovery code': [...model.heldCodes.values()].filter((one) => one === user),
    session: model.sessionsOf(user),
    'refresh token': model.grants.filter(({ code, isEnded }) => code.user === user && !isEnded),
  };
  for (const [what, some] of Object.entries(left))
    demand(some.length === 0, `a ${what} of ${nameIn(model, user)} outlives the former person`);
}

function nameIn(model: Model, user: string): string {
  return model.user(user)['user_name'] ?? user;
}
