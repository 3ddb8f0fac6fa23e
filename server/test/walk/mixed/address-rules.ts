import { type Change, changedColumns, describeChange, type Row } from '../changes.ts';
import { Restorable } from '../checkpoint.ts';
import { demand, toleranceMs } from '../model.ts';
import type { Done, Site } from './draft.ts';
import { type Dice, mailboxesIn, type Party } from './party.ts';
import type { RecoveryRules } from './recovery-rules.ts';

const codeMs = 5 * 60_000;
const freshMs = 5 * 60_000;

/** A code for a new address that a session asked for. */
interface Asked {
  by: Party;
  user: string;
  session: string;
  address: string;
  at: number;
  step: number;
}

/**
 * The login address of a user becomes another one only on the account page, by the newest code that went there at the request of
 * the same session, once, within its time, while the session is fresh by the factor of its user, and only if it leads to no other
 * user. Every address before gets a notice. The code works for nothing else, and what came before the change ends.
 */
export class AddressRules extends Restorable {
  /** By the id of the message. */
  private readonly asked = new Map<string, Asked>();
  /** Messages with the newest code, by session. */
  private readonly open = new Map<string, string>();
  /** Times at which users last used a recovery code. */
  private readonly recovered = new Map<string, number>();

  constructor(
    private readonly site: Site,
    private readonly recoveries: RecoveryRules,
    private readonly sessionOf: (id: string) => Row | undefined,
  ) {
    super();
  }

  /** The next request of a user who changes their address. */
  nextOf(party: Party, dice: Dice): string {
    const isLive = this.sessionOf(party.session)?.['ended_at'] === null;
    if (!isLive) return 'authorize';
    return this.isFresh(party) || dice.next() < 0.2 ? 'account-email' : 'account-confirm';
  }

  /** Whether the user of the browser may change the address now. */
  private isFresh({ session, user }: Party): boolean {
    const row = this.sessionOf(session);
    const { model } = this.site.world;
    if (row === undefined || row['ended_at'] !== null || row['fresh_at'] === null) return false;
    if (model.now - Date.parse(row['fresh_at']) >= freshMs + toleranceMs) return false;
    const isRecovered = model.now - (this.recovered.get(user) ?? 0) < freshMs + toleranceMs;
    const hasMore = model.holdsPasskey(user) || model.factorsOf(user).some(({ method }) => method !== 'email');
    return isRecovered || row['amr'].includes('mfa') || !hasMore;
  }

  /** The party that asked for the code of this message; undefined: another message. */
  askerOf(message: string, to: string): Party | undefined {
    const asked = this.asked.get(message);
    demand(asked === undefined || asked.address === to, `the code for ${asked?.address} was sent to ${to}`);
    return asked?.by;
  }

  /** Sign-ins that began with the new address end, whose account they do not name. */
  endsWorkOf({ name, changes }: Pick<Done, 'changes' | 'name'>, { table, op, new: row, old }: Change): boolean {
    const address = name === 'account-email-code' ? moveIn(changes)?.new?.['email_key'] : undefined;
    if (address === undefined) return false;
    const { ceremonies } = this.site.world.model;
    if (table === 'one_time_codes')
      return op === 'DELETE' && ceremonies.get(old?.['ceremony_id'])?.['address'] === address;
    return table === 'ceremonies' && row?.['address'] === address && row?.['finished_at'] != null;
  }

  /** @param done accepted */
  check(done: Done): void {
    const { changes, name, party, fields } = done;
    const what = `${name} of ${party.name}`;
    const isOfAddress = this.site.values.of('email-code', fields['otp']) !== undefined;
    demand(!isOfAddress || !name.startsWith('verify-'), `${what} was accepted by a code for a new address`);
    for (const { table, new: row } of changes) {
      if (table === 'recovery_grants' && row?.['used_at'] != null)
        this.recovered.set(row['user_id'], this.site.world.model.now);
      if (row && table === 'messages' && row['template'] === 'email-code') this.sent(done, row);
    }
    const move = moveIn(changes);
    if (move) this.moved(done, move);
    // Also one that is the address already.
    if (name === 'account-email-drop' || name === 'account-email-code') this.open.delete(party.session);
  }

  private sent({ name, party, fields }: Done, { id, recipient }: Row): void {
    const what = `${name} of ${party.name} sent a code to ${recipient}`;
    demand(name === 'account-email' && recipient === fields['email'], `${what}, which it does not name`);
    demand(this.isFresh(party), `${what} without a fresh sign-in`);
    const { now: at, step } = this.site.world.model;
    this.asked.set(id, { by: party, user: party.user, session: party.session, address: recipient, at, step });
    this.open.set(party.session, id);
  }

  private moved(done: Done, move: Change): void {
    const { name, party, fields } = done;
    const { model } = this.site.world;
    const row = move.new as Row;
    const what = `${name} of ${party.name} made ${describeChange(move)}`;
    demand(name === 'account-email-code', what);
    const { message = '' } = this.site.values.of('email-code', fields['code'])?.with ?? {};
    const asked = this.asked.get(message);
    demand(asked, `${what} by a code that no address received`);
    const isOwn = asked.session === party.session && asked.user === party.user;
    demand(isOwn, `${what} by a code of another session`);
    demand(this.open.get(party.session) === message, `${what} by a code that was replaced, cancelled or used`);
    demand(asked.address === row['email'], `${what} to an address that did not receive the code`);
    demand(model.now - asked.at < codeMs + toleranceMs, `${what} by a code after its time`);
    demand(asked.step > party.endedStep, `${what} by a code from before their open work was ended`);
    demand(this.isFresh(party), `${what} without a fresh sign-in`);
    const holders = model.named(this.site.project.id, row['email_key']).filter(({ id }) => id !== party.user);
    demand(holders.length === 0, `${what}, which leads to another user`);
    const isKept = move.old?.['provenance'] !== 'scim' || move.old['user_name'] === row['user_name'];
    demand(isKept, `${what}, with the user name of a directory`);
    this.checkNotices(done, move, what);
    this.checkEnded(done, what);
    party.address = row['email'];
    party.userName = row['user_name'];
    party.endedStep = model.step;
    this.recoveries.ended(party.user);
    this.site.keep(party, { address: party.address });
  }

  private checkEnded({ changes, party }: Done, what: string): void {
    const { model } = this.site.world;
    const ended = changes.flatMap(({ table, new: row }) =>
      table === 'ceremonies' && row?.['finished_at'] != null ? [row['id']] : [],
    );
    for (const [id, row] of model.ceremonies) {
      const isOpen = row['finished_at'] === null && Date.parse(row['expires_at']) > model.now + toleranceMs;
      if (isOpen && row['account_id'] === party.user) demand(ended.includes(id), `${what}, and left a sign-in open`);
    }
  }

  private checkNotices({ changes }: Done, { old }: Change, what: string): void {
    const notified = changes.flatMap(({ table, new: row }) =>
      table === 'messages' && row?.['template'] === 'email-changed' ? [row['recipient']] : [],
    );
    for (const mailbox of mailboxesIn(old ?? {}))
      demand(notified.includes(mailbox), `${what} without a notice to ${mailbox}`);
  }
}

function moveIn(changes: readonly Change[]): Change | undefined {
  const isMove = (change: Change) =>
    changedColumns(change).some((name) => /^(email|email_key|user_name|user_name_key)$/.test(name));
  return changes.find((change) => change.table === 'users' && change.op === 'UPDATE' && isMove(change));
}
