import type { Draft } from './draft.ts';
import type { Dice, Party, Seen, Values } from './party.ts';

/** A request as it is sent: by whose browser, with which values. */
export interface Sending {
  by: Party;
  fields: Record<string, string>;
  /** The deviation from the honest request; null: none. */
  deviation: string | null;
  /** The party whose cookies are forged: with their names, and values of the sender's own. */
  forges?: Party;
}

/** Requests at the end of a flow, where a value of another user would have an effect. */
const closing =
  /^(resume|consent|exchange|refresh|userinfo|revoke|device-poll|device-decide|account.*|end-session|delegate-.*|verify-.*|register-passkey)$/;

/** Requests of the flows that themes are about. */
const ofThemes = /^(account-email.*|delegate-.*|setup-.*|verify-mfa)$/;

/**
 * The honest request, or one that deviates in one respect: it is sent by another browser, lacks a parameter, or has a value
 * of another user, client or flow. A deviation that is refused changes nothing, so the honest request can follow. So most
 * deviations have one wrong value among right and unspent ones.
 *
 * @param isShort whether a flow must end soon: only its last requests deviate
 */
export function steer(
  name: string,
  draft: Draft,
  author: Party,
  others: readonly Party[],
  values: Values,
  dice: Dice,
  isShort = false,
): Sending {
  const honest: Record<string, string> = {};
  for (const [field, [, right]] of Object.entries(draft.fields)) if (right !== undefined) honest[field] = right;
  const kept = { by: author, fields: honest, deviation: null };
  if (dice.next() > rateOf(name, draft, isShort)) return kept;
  const chance = dice.next();
  if (chance < 0.25) {
    const by = dice.of(others) as Party;
    return { by, fields: honest, deviation: `from the browser of ${by.name}` };
  }
  const names = Object.keys(honest).filter((field) => draft.fields[field]?.[0] !== '');
  const isAimed = draft.aim !== undefined && dice.next() < 0.75;
  const field = isAimed ? draft.aim : dice.of(names);
  if (field === undefined) return kept;
  const { [field]: _, ...rest } = honest;
  if (chance < 0.35) return { by: author, fields: rest, deviation: `without ${field}` };
  const kind = chance < 0.95 ? draft.fields[field]?.[0] : undefined;
  const other = pick(candidates(values, author, kind, honest[field]), author, dice, isAimed ? 0.8 : 0.55);
  if (!other) return kept;
  const fields = { ...honest, [field]: other.text };
  // Some values that belong to it are sent with it.
  for (const [name_, [kind_]] of Object.entries(draft.fields)) {
    const companion = other.with[kind_];
    if (name_ !== field && companion !== undefined && dice.next() < (isAimed ? 0.9 : 0.5)) fields[name_] = companion;
  }
  const sending = { by: author, fields, deviation: `with the ${other.kind} of ${other.of.name}` };
  return other.kind === 'flow' && dice.next() < 0.3 ? { ...sending, forges: other.of } : sending;
}

function rateOf(name: string, { aim }: Draft, isShort: boolean): number {
  if (isShort) return ofThemes.test(name) ? 0.5 : 0.08;
  return aim !== undefined || closing.test(name) ? 0.6 : 0.3;
}

function candidates(values: Values, author: Party, kind: string | undefined, right: string | undefined): Seen[] {
  return [...values.all.values()].filter(
    (one) => one.text !== right && (kind === undefined || one.kind === kind) && (one.of === author || !isGuarded(one)),
  );
}

/** A code that another user requested for this user's mailbox: passing it on gives away the account, or the mailbox. */
function isGuarded({ kind, of, with: belongs }: Seen): boolean {
  return /^(otp|email-code)$/.test(kind) && belongs['asked by'] !== of.name;
}

/**
 * Usually a fresh value of another user, which no accepted request has used.
 *
 * @param others probability of a value of another user
 */
function pick(some: Seen[], author: Party, dice: Dice, others: number): Seen | undefined {
  const [ofOthers, unspent, fresh] = [dice.next() < others, dice.next() < 0.7, dice.next() < 0.8];
  let left = some;
  const narrow = (by: (one: Seen) => boolean) => {
    const narrowed = left.filter(by);
    if (narrowed.length > 0) left = narrowed;
  };
  narrow(({ of }) => (of !== author) === ofOthers);
  if (unspent) narrow(({ isSpent }) => !isSpent);
  return fresh ? dice.of(left.slice(-2)) : dice.of(left);
}
