import { type Change, changedColumns, describeChange, type Row } from '../changes.ts';
import { Restorable } from '../checkpoint.ts';
import { demand, type Model } from '../model.ts';
import { AddressRules } from './address-rules.ts';
import { AdminRules } from './admin-rules.ts';
import { DelegationRules } from './delegation-rules.ts';
import { clientOf, type Done, type Site } from './draft.ts';
import type { Party, Seen } from './party.ts';
import { RecoveryRules } from './recovery-rules.ts';
import { isRenewed, SessionRules } from './session-rules.ts';
import { TokenRules } from './token-rules.ts';

/**
 * Rules for users who mix all values that they have seen: each acts only for themselves.
 *
 * 1. A request changes only rows of the user of its browser, of the grant that it presents, or of its own.
 * 2. A flow is continued only by the browser in which it began, and a sign-in only in its flow.
 * 3. A form is accepted only with the token of a page that this browser was shown in this session.
 * 4. A code is given only under a live session of the user, to the client and address of the request, after the consent
 *    that
 *    it asks for.
 * 5. Tokens: see {@link TokenRules}.
 * 6. A refused request changes nothing.
 * 7. No reply names another user.
 * 8. A session begins only in a sign-in in which its user proved themself. See {@link SessionRules}.
 * 9. A back end changes the second factor of a user that it names, by the code of a change that it began for them.
 * 10. Admins: see {@link AdminRules} and {@link RecoveryRules}.
 * 11. The login address: see {@link AddressRules}.
 * 12. After an admin has ended a user's access, no earlier value works. An admin's action changes only rows of its user.
 */
export class Rules extends Restorable {
  private readonly model: Model;
  /** Rows by the party whose request inserted them. */
  private readonly rows = new Map<string, Party>();
  private readonly sessions = new Map<string, Row>();
  /** Flows whose user allowed the application, on its page. */
  private readonly allowed = new Map<string, Party>();
  private readonly tokens: TokenRules;
  private readonly sessionRules: SessionRules;
  private readonly delegation: DelegationRules;
  readonly admins: AdminRules;
  readonly recoveries: RecoveryRules;
  readonly addresses: AddressRules;

  constructor(
    private readonly site: Site,
    private readonly parties: readonly Party[],
  ) {
    super();
    this.model = site.world.model;
    this.tokens = new TokenRules(site, parties, (id) => this.isLive(id));
    this.sessionRules = new SessionRules(site);
    this.delegation = new DelegationRules(site, parties);
    this.admins = new AdminRules(site);
    this.recoveries = new RecoveryRules(site);
    this.addresses = new AddressRules(site, this.recoveries, (id) => this.sessions.get(id));
  }

  check(done: Done): void {
    const { changes, name, party, reply } = done;
    const what = `${name} of ${party.name}`;
    // Only budgets that attackers exhausted may cause a 503.
    const isLimited = reply.status === 503 && this.model.isTainted;
    demand(reply.status < 500 || isLimited, `${what} failed: ${reply.status} ${reply.text.slice(0, 200)}`);
    const wasLive = this.isLive(party.session);
    for (const change of changes) this.note(change);
    for (const change of changes) this.row(done, change);
    this.checkDisclosure(done);
    const isAccepted = reply.status < 400 && reply.location?.searchParams.get('error') == null;
    const effects = changes.filter((change) => !isEnd(change));
    if (!isAccepted) {
      // The application receives the refusal, which ends its request.
      const strange = effects.find((change) => reply.location === null || !isFinished(change));
      return demand(!strange, `${what} was refused and changed rows: ${strange && describeChange(strange)}`);
    }
    this.checkFlow(done, effects);
    this.sessionRules.check(done);
    this.delegation.check(done);
    this.admins.check(done);
    this.recoveries.check(done);
    this.addresses.check(done);
    if (name === 'authorize') this.checkPushed(done);
    if (done.isForm && effects.length > 0) this.checkForm(done);
    const { flow = '', answer } = done.fields;
    if (name === 'consent' && effects.length > 0 && answer === 'allow') this.allowed.set(flow, party);
    if (name === 'device-decide' && effects.length > 0) this.tokens.decided(party, done.fields);
    if (reply.location?.searchParams.get('code')) this.gave(done);
    this.tokens.check(done, effects, wasLive);
    if (name.startsWith('account') && effects.length > 0)
      demand(wasLive, `${what} was accepted after their session ended`);
  }

  /** An action of an admin or directory on a user. */
  checkAdmin(what: string, user: string, changes: readonly Change[]): void {
    const ended = changes.flatMap(({ table, op, old }) =>
      table === 'authorization_requests' && op === 'DELETE' && old?.['hinted_user_id'] === user ? [old['id']] : [],
    );
    for (const change of changes) {
      this.note(change);
      const row = (change.new ?? change.old) as Row;
      // The sign-ins of a request that hints at an erased user end with it, including those of other users.
      if (change.table === 'ceremonies' && ended.includes(row['request_id'])) continue;
      // A code ends with its sign-in, at which another address may have been typed.
      if (change.table === 'one_time_codes' && change.op === 'DELETE') continue;
      const owner = this.ownerOf(change.table, row);
      demand(owner === null || owner === user, `${what} made ${describeChange(change)} of another user`);
    }
  }

  /** @param ended sessions that have ended by the audit log */
  checkAudit(what: string, ended: readonly string[]): void {
    const live = ended.find((id) => this.isLive(id));
    demand(live === undefined, `${what} recorded the end of a session that is live`);
  }

  checkLogout(sid: string | undefined, user: string): void {
    const sessions = [...this.sessions.values()].filter((row) =>
      sid === undefined ? row['user_id'] === user : row['id'] === sid,
    );
    demand(sessions.length > 0, 'a logout token names no session');
    for (const row of sessions) {
      demand(row['user_id'] === user, 'a logout token names the session of another user');
      demand(sid === undefined || row['ended_at'] !== null, 'a logout token names a live session');
    }
  }

  private note(change: Change): void {
    const row = (change.new ?? change.old) as Row;
    if (change.table === 'sessions') this.sessions.set(row['id'], change.new ?? { ...row, ended_at: 'deleted' });
    this.tokens.note(change);
  }

  private isLive(session: string | undefined): boolean {
    return this.sessions.get(session ?? '')?.['ended_at'] === null;
  }

  /** A row belongs to the user of the browser or of the grant, or the party's request inserted it. */
  private row(done: Done, change: Change): void {
    const { name, party, fields } = done;
    const { table, op } = change;
    const row = (change.new ?? change.old) as Row;
    const what = `${name} of ${party.name} made an unexpected ${describeChange(change)}`;
    const key = `${table} ${row['id'] ?? row['hash'] ?? ''}`;
    const mine = this.rows.get(key) === party;
    if (op === 'INSERT') this.rows.set(key, party);
    if (table === 'consents') this.consent({ name, party, fields }, change);
    if (table === 'sessions' && row['user_id'] === party.user && (op === 'INSERT' || isRenewed(change)))
      party.session = row['id'];
    if (/^(messages|webhook_events|user_counts)$/.test(table)) return;
    // Any address may be typed at a sign-in; its code goes to the address.
    const isAsked = name === 'authenticate' && /^(one_time_codes|ceremonies)$/.test(table);
    if (isAsked && (op === 'INSERT' || mine)) return;
    // Another person may type a user code, and any browser may send a pushed request.
    if (table === 'device_authorizations' && op === 'UPDATE') return this.device({ name, party, fields }, change);
    if (table === 'pushed_requests' && name === 'authorize' && String(changedColumns(change)) === 'used_at') return;
    if (table === 'setup_links' || this.addresses.endsWorkOf(done, change)) return;
    if (table === 'users' && op === 'INSERT' && row['project_id'] === this.site.console.id) party.admins.add(row['id']);
    const user = this.ownerOf(table, row);
    if (user !== null)
      return demand(party.is(user) || user === this.tokens.presented(fields), `${what}, of another user`);
    demand(op === 'INSERT' || mine, `${what}, of another request`);
  }

  private ownerOf(table: string, row: Row): string | null {
    if (table === 'users') return row['id'];
    if (table === 'logout_deliveries') return row['subject'];
    if (table === 'participations') return this.sessions.get(row['session_id'])?.['user_id'] ?? 'another user';
    // A sign-in by another person's address ends with their sign-ins.
    const named = this.parties.find(({ address, userName }) => [address, userName].includes(row['address']));
    return row['user_id'] ?? row['account_id'] ?? (row['finished_at'] ? named?.user : null) ?? null;
  }

  /** Rule 2. */
  private checkFlow({ party, name, fields, reply }: Done, effects: readonly Change[]): void {
    const text = fields['flow'] ?? fields['@flow'];
    if (text === undefined) return;
    // The answer to a consent page redirects in any case.
    if (name === 'consent' && effects.length === 0) return;
    const flow = this.site.values.of('flow', text);
    demand(flow, `${name} of ${party.name} was accepted without a flow`);
    demand(flow.of === party, `${name} of ${party.name} continued a flow of ${flow.of.name}`);
    const txn = this.site.values.of('txn', fields['txn']);
    if (name === 'challenge' || fields['@flow'] === undefined || reply.status !== 200) return;
    demand(txn?.with['flow'] === text, `${name} of ${party.name} was accepted for a sign-in of another flow`);
    const proof = this.site.values.of('credential', fields['credential']) ?? this.otpOf(fields);
    if (proof)
      demand(proof.with['txn'] === txn.text, `${name} of ${party.name} was accepted with a proof of another sign-in`);
  }

  /** Another client cannot send a pushed request. */
  private checkPushed({ party, fields }: Done): void {
    const pushed = this.site.values.of('request-uri', fields['request_uri']);
    demand(
      pushed === undefined || pushed.with['client'] === fields['client_id'],
      `authorize of ${party.name} was accepted for the pushed request of another application`,
    );
  }

  private otpOf(fields: Record<string, string>): Seen | undefined {
    return this.site.values.of('otp', fields['otp']);
  }

  /** Rule 3. The form of a setup link has none: the browser has proved nothing yet. */
  private checkForm({ party, name, fields }: Done): void {
    if (name === 'setup-begin') return;
    const csrf = this.site.values.of('csrf', fields['csrf']);
    const what = `a form (${name}) of ${party.name} was accepted`;
    demand(csrf && party.held.has(csrf), `${what} without the token of their page`);
    const flow = csrf.with[name === 'consent' ? 'flow' : 'device-flow'];
    if (fields['flow'] !== undefined) demand(flow === fields['flow'], `${what} with the token of another flow`);
    if (name.startsWith('account'))
      demand(csrf.with['session'] === party.session, `${what} with the token of another session`);
  }

  /** Stored only after the user allowed the application, on its page or on that of a device. */
  private consent({ name, party, fields }: Pick<Done, 'fields' | 'name' | 'party'>, { old, new: row }: Change): void {
    const client = (row ?? old)?.['client_id'];
    if (!row) return void party.consents.delete(client);
    const what = `${name} of ${party.name} stored a consent`;
    const isAllowed = fields['answer'] === 'allow' || (name === 'device-decide' && fields['decision'] === 'allow');
    demand(isAllowed, `${what} that they did not give`);
    const flow = this.site.values.of('flow', fields['flow']);
    demand(flow && flow.with['client'] === client, `${what} to another application`);
    party.consents.add(client);
  }

  private device({ name, party, fields }: Pick<Done, 'fields' | 'name' | 'party'>, change: Change): void {
    const what = `${name} of ${party.name} changed a device`;
    demand(name === 'device-decide', what);
    const rest = changedColumns(change).filter(
      (one) => !/^(approved|decided_at|user_id|session_id|version)$/.test(one),
    );
    demand(rest.length === 0, `${what}: ${rest.join(', ')}`);
    demand(change.new?.['approved'] === (fields['decision'] === 'allow'), `${what} to another decision`);
  }

  /** Rule 7; the request may have named a user or a session. */
  private checkDisclosure({ party, name, fields, reply }: Done): void {
    for (const value of Object.values(fields)) party.sent.add(value);
    const asked = JSON.stringify(fields);
    const text = `${reply.text} ${reply.location?.href ?? ''}`;
    for (const [id, row] of this.model.users) {
      if (party.is(id) || id === this.tokens.presented(fields)) continue;
      for (const secret of [id, row['email'], row['phone']]) {
        if (typeof secret !== 'string' || asked.includes(secret) || party.sent.has(secret)) continue;
        demand(!text.includes(secret), `${name} of ${party.name} revealed ${secret}`);
      }
    }
    for (const [id, row] of this.sessions) {
      if (party.is(row['user_id']) || asked.includes(id) || party.sent.has(id)) continue;
      demand(!text.includes(id), `${name} of ${party.name} revealed a session of another user`);
    }
  }

  /** Rule 4. */
  private gave({ party, name, fields, reply, changes }: Done): void {
    const row = changes.findLast(({ table, op }) => table === 'authorization_codes' && op === 'INSERT')?.new;
    const what = `${name} gave ${party.name} a code`;
    demand(row, `${what} without storing it`);
    demand(row['user_id'] === party.user, `${what} of another user`);
    demand(row['session_id'] === party.session && this.isLive(party.session), `${what} without their session`);
    demand(this.model.user(party.user)['active'], `${what}, who is deactivated`);
    demand(this.model.meetsPolicy(party.user), `${what} against the policy`);
    const { values } = this.site;
    const asked = values.of('flow', fields['flow'])?.with ?? values.of('request-uri', fields['request_uri'])?.with;
    const of: Record<string, string | undefined> = asked ?? {
      ...{ client: fields['client_id'], redirect: fields['redirect_uri'], state: fields['state'] },
      ...{ prompt: fields['prompt'], challenge: fields['code_challenge'] },
      hinted: this.site.values.of('id-token', fields['id_token_hint'])?.with['user'],
    };
    demand(of['hinted'] === undefined || of['hinted'] === party.user, `${what} though it hints at another user`);
    const client = clientOf(this.site, of['client']);
    demand(client && row['client_id'] === client.id, `${what} of another application`);
    const target = reply.location as URL;
    demand(`${target.origin}${target.pathname}` === client.redirect, `${what} for another address`);
    demand(target.searchParams.get('state') === (of['state'] ?? null), `${what} with another state`);
    if (!client.isThirdParty) return;
    demand(party.consents.has(client.id), `${what} without the consent to the application`);
    const isAsked = of['prompt'] === 'consent';
    demand(
      !isAsked || this.allowed.get(fields['flow'] ?? '') === party,
      `${what} without the consent that it asks for`,
    );
  }
}

/** Ends of open work: a replay ends tokens, an attempt uses up its challenge or pushed request. */
function isEnd(change: Change): boolean {
  if (changedColumns(change).includes('used_at') && change.table !== 'pushed_requests') return false;
  return changedColumns(change).every((name) => /^(revoked_at|passkey_challenge_hash|used_at)$/.test(name));
}

function isFinished(change: Change): boolean {
  return change.table === 'authorization_requests' && String(changedColumns(change)) === 'finished_at';
}
