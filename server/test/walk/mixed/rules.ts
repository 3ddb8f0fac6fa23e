import { createHash } from 'node:crypto';
import { type Change, changedColumns, describeChange, type Row } from '../changes.ts';
import { demand, type Model } from '../model.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';
import type { Party } from './party.ts';

/** A request of a party, with its reply and the rows that it changed. */
interface Done {
  party: Party;
  name: string;
  fields: Record<string, string>;
  reply: Reply;
  changes: readonly Change[];
}
/** A device that a person may have approved. */
interface Device {
  code: string;
  client: string;
  by: Party | null;
  step: number;
}

/** Rules for users who mix all values that they have seen: each acts for themselves alone. */
export class Rules {
  private readonly model: Model;
  /** Rows by the party whose request inserted them. */
  private readonly rows = new Map<string, Party>();
  private readonly devices = new Map<string, Device>();
  private readonly used = new Set<string>();
  /** Step of the last sign-in that began or continued a session. */
  private readonly signedIn = new Map<Party, number>();

  constructor(
    world: World,
    private readonly parties: readonly Party[],
    private readonly clients: readonly { id: string; isThirdParty: boolean }[],
  ) {
    this.model = world.model;
  }

  began(user: string, code: string, client: string): void {
    this.devices.set(user, { code, client, by: null, step: -1 });
  }

  /** A person answered on the approval page. */
  decided(party: Party, user: string | undefined, isAllowed: boolean): void {
    const device = this.devices.get(user ?? '');
    if (device && isAllowed) Object.assign(device, { by: party, step: this.model.step });
  }

  check(done: Done): void {
    const { changes, name, party, reply } = done;
    const what = `${name} of ${party.name}`;
    demand(reply.status < 500 || reply.status === 503, `${what} failed: ${reply.status} ${reply.text.slice(0, 200)}`);
    for (const change of changes) this.row(done, change);
    this.checkDisclosure(done);
    const isAccepted = reply.status < 400 && reply.location?.searchParams.get('error') == null;
    if (!isAccepted) {
      // The application receives the refusal, which ends its request.
      const isRedirect = reply.location !== null;
      const strange = changes.find((change) => !isEnd(change) && !(isRedirect && isFinished(change)));
      return demand(!strange, `${what} was refused and changed rows: ${strange && describeChange(strange)}`);
    }
    const code = reply.location?.searchParams.get('code');
    if (code) this.gave(done, changes);
    if (reply.json['access_token'] !== undefined) this.tokens(done);
    if (name === 'userinfo') this.userInfo(done);
    if (name === 'account' && changes.length > 0) this.isLive(party, what);
  }

  /** A row belongs to the party, or its request inserted it. */
  private row({ name, party, fields }: Done, change: Change): void {
    const { table, op } = change;
    const row = (change.new ?? change.old) as Row;
    const what = `${name} of ${party.name} made an unexpected ${describeChange(change)}`;
    const key = `${table} ${row['id'] ?? row['hash'] ?? ''}`;
    const user = this.ownerOf(table, row);
    const mine = this.rows.get(key) === party;
    if (op === 'INSERT') this.rows.set(key, party);
    if (table === 'consents') this.consent({ name, party, fields }, change);
    if (table === 'sessions' && op !== 'DELETE' && row['ended_at'] === null) this.signedIn.set(party, this.model.step);
    if (/^(messages|logout_deliveries|webhook_events|user_counts)$/.test(table)) return;
    // Any address may be typed at a sign-in; its code goes to the address.
    const isAsked = name === 'authenticate' && /^(one_time_codes|ceremonies)$/.test(table);
    // A user code is there to be typed by another person.
    const isDevice = table === 'device_authorizations' && /^device-(enter|decide)$/.test(name);
    if (isAsked && (op === 'INSERT' || mine)) return;
    if (isDevice && op === 'UPDATE') return this.device(party, fields, change);
    if (user !== null) return demand(user === party.user, `${what}, of another user`);
    demand(op === 'INSERT' || mine, `${what}, of another request`);
  }

  private ownerOf(table: string, row: Row): string | null {
    if (table === 'users') return row['id'];
    if (table === 'participations') return this.rows.get(`sessions ${row['session_id']}`)?.user ?? 'another user';
    // A sign-in by another person's address ends with their sign-ins.
    const named = this.parties.find(({ address }) => address === row['address']);
    return row['user_id'] ?? row['account_id'] ?? (row['finished_at'] ? named?.user : null) ?? null;
  }

  /** Stored only after the user allowed the application, on its page or on that of a device. */
  private consent({ name, party, fields }: Pick<Done, 'fields' | 'name' | 'party'>, { old, new: row }: Change): void {
    const client = (row ?? old)?.['client_id'];
    if (!row) return void party.consents.delete(client);
    const what = `${name} of ${party.name} stored a consent`;
    if (name === 'consent') {
      demand(fields['answer'] === 'allow', `${what} that they refused`);
      demand(party.find('flow', fields['flow'])?.with['client'] === client, `${what} to another application`);
      const page = party.find('consent', fields['csrf']);
      demand(page && page.with['flow'] === fields['flow'], `${what} by the page of another request`);
    } else {
      demand(name === 'device-decide' && fields['decision'] === 'allow', `${what} that they did not give`);
    }
    party.consents.add(client);
  }

  private device(party: Party, fields: Record<string, string>, change: Change): void {
    const columns = changedColumns(change).filter(
      (one) => !/^(approved|decided_at|user_id|session_id|version)$/.test(one),
    );
    demand(columns.length === 0, `${party.name} changed ${columns.join(', ')} of a device`);
    if (change.new?.['approved'] !== change.old?.['approved'])
      demand(change.new?.['approved'] === (fields['decision'] === 'allow'), `a device got a different decision`);
  }

  /** No reply names another user, unless the request did. */
  private checkDisclosure({ party, name, fields, reply }: Done): void {
    for (const value of Object.values(fields)) party.sent.add(value);
    const asked = JSON.stringify(fields);
    const text = `${reply.text} ${reply.location?.href ?? ''}`;
    for (const [id, row] of this.model.users) {
      if (id === party.user) continue;
      for (const secret of [id, row['email'], row['phone']]) {
        if (typeof secret !== 'string' || asked.includes(secret) || party.sent.has(secret)) continue;
        demand(!text.includes(secret), `${name} of ${party.name} revealed ${secret}`);
      }
    }
  }

  /** A code is given to a live session, and to an application that needs consent only after it. */
  private gave({ party, name, fields }: Done, changes: readonly Change[]): void {
    const row = changes.findLast(({ table, op }) => table === 'authorization_codes' && op === 'INSERT')?.new;
    const what = `${name} gave ${party.name} a code`;
    demand(row, `${what} without writing one`);
    this.isLive(party, what);
    if (fields['client_id']) demand(row['client_id'] === fields['client_id'], `${what} of another application`);
    this.isConsented(party, row['client_id'], what);
  }

  private isConsented(party: Party, client: string, what: string): void {
    const needs = this.clients.find(({ id }) => id === client)?.isThirdParty ?? true;
    demand(!needs || party.consents.has(client), `${what} without the consent to the application`);
  }

  private isLive(party: Party, what: string): void {
    demand(party.endedStep < (this.signedIn.get(party) ?? -1), `${what} by a session that an admin ended`);
    demand(this.model.user(party.user)['active'], `${what}, who is deactivated`);
  }

  private tokens({ party, name, fields, reply }: Done): void {
    const what = `${name} gave ${party.name} tokens`;
    const grant = fields['code'] ?? fields['device_code'] ?? fields['refresh_token'] ?? '';
    const claims = claimsOf(reply.json['access_token']);
    const device = [...this.devices.values()].find(({ code }) => code === fields['device_code']);
    const user = device ? device.by?.user : party.user;
    demand(claims['sub'] === user, `${what} of another user`);
    demand(
      claims['client_id'] === undefined || claims['client_id'] === fields['client_id'],
      `${what} for another client`,
    );
    if (name !== 'refresh') {
      demand(!this.used.has(grant), `${what} for a code twice`);
      this.used.add(grant);
    }
    if (device) {
      demand(device.client === fields['client_id'], `${what} of another device's client`);
      demand(device.by && device.by.endedStep < device.step, `${what} after an admin ended the approval`);
      return;
    }
    demand(this.model.user(party.user)['active'], `${what}, who is deactivated`);
    const seen = party.find(name === 'refresh' ? 'refresh' : 'code', grant);
    demand(seen, `${what} for a value that is not theirs`);
    demand(party.endedStep < seen.step, `${what} after an admin ended what came before`);
    demand(seen.with['client'] === fields['client_id'], `${what} of another application`);
    if (name !== 'exchange') return;
    const right = createHash('sha256')
      .update(seen.with['verifier'] ?? '')
      .digest('base64url');
    const sent = createHash('sha256')
      .update(fields['code_verifier'] ?? '')
      .digest('base64url');
    demand(right === sent, `${what} with another verifier`);
  }

  private userInfo({ party, fields, reply }: Done): void {
    const seen = party.find('access', fields['access_token']);
    demand(seen, `UserInfo answered ${party.name} to a value that is no access token`);
    const owner = this.parties.find(({ user }) => user === claimsOf(seen.text)['sub']);
    demand(owner && reply.json['sub'] === owner.user, `UserInfo showed ${party.name} another user`);
    demand(owner.endedStep < seen.step, `UserInfo answered ${party.name} after an admin ended what came before`);
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

function claimsOf(jwt: string): Row {
  return JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()) as Row;
}
