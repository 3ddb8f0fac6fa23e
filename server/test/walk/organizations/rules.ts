import { type Change, changedColumns, describeChange, type Row } from '../changes.ts';
import type { Customer, Customers, Flow, Person, Word } from './customers.ts';

/** What a step may change. Nothing else. */
export type Reach =
  /** An admin of the project: anything. */
  | { kind: 'admin' }
  /** Nothing but the traces of a failed attempt. */
  | { kind: 'nothing' }
  /** The directory or the IT contact of one organization. */
  | { kind: 'inside'; customer: Customer }
  /** The browser of a person. With `word` or `mailbox`: the step proved it in the flow. */
  | { kind: 'browser'; person: Person; flow?: Flow; word?: Word; mailbox?: string }
  /** The application, with a code or token that it holds. */
  | { kind: 'tokens'; by: Person };

/** A violated invariant, by its number in decisions/0382 and 0067. */
export class Violation extends Error {}

function demand(holds: unknown, rule: string): asserts holds {
  if (!holds) throw new Violation(rule);
}

/** Tables that a refused sign-in may change: requests and their counters. */
const traces =
  /^(upstream_requests|upstream_assertions|authorization_requests|ceremonies|messages|one_time_codes|otp_)/;
/** Of a connection: its health. */
const health = new Set(['failures', 'last_failure_at', 'last_failure', 'last_success_at', 'updated_at']);
/** Queues and counts of all projects. */
const shared =
  /^(messages|scim_erasures|webhook_|stream_|logout_|user_counts|counts|scim_statistics|signing_keys|saml_keys|activity)/;

/** The invariants of organizations (decisions/0382), over the rows that a step changed. */
export class Rules {
  constructor(private readonly world: Customers) {}

  async check(reach: Reach, changes: readonly Change[]): Promise<void> {
    // A later step may trust the row of an identity only if an earlier one was allowed to write it.
    for (const change of changes) this.keepsIdentity(change);
    for (const change of changes) {
      if (change.table === 'authorization_codes' && change.op === 'INSERT') await this.code(reach, change.new ?? {});
      if (change.table === 'refresh_grants' && change.op === 'INSERT') await this.grant(change.new ?? {});
      if (change.table === 'users' && change.new !== null) await this.home(change, reach);
      if (reach.kind === 'admin' || shared.test(change.table)) continue;
      if (reach.kind === 'nothing') this.trace(change);
      else if (reach.kind === 'inside') await this.inside(reach.customer, change, changes);
      else if (reach.kind === 'browser') await this.browser(reach, change, changes);
      else this.tokens(change);
    }
  }

  /** Over all rows, once the jobs have run: what a loss leaves behind. */
  async settled(): Promise<void> {
    const none = async (rule: string, text: string) => demand((await this.world.rows(text)).length === 0, rule);
    const held = `m.project_id = t.project_id and m.organization_id = t.organization_id and m.user_id = t.user_id`;
    await none(
      '1: a live refresh grant of a user who is not a member',
      `select 1 from refresh_grants t where t.project_id = ? and t.organization_id is not null and t.revoked_at is null
        and not exists (select 1 from organization_memberships m where ${held} and m.state = 'active')`,
    );
    await none(
      '1: an open session of a deactivated user',
      `select 1 from sessions s join users u on u.project_id = s.project_id and u.id = s.user_id
        where s.project_id = ? and s.ended_at is null and not u.active`,
    );
    await none(
      'a user at home in an organization who is not its member',
      `select 1 from users t where t.project_id = ? and t.organization_id is not null and t.account_id is null
        and not exists (select 1 from organization_memberships m where m.project_id = t.project_id
          and m.organization_id = t.organization_id and m.user_id = t.id)`,
    );
    await none(
      '2: a domain that two organizations hold',
      `select domain from organization_domains where project_id = ? and state = 'verified' group by domain having count(*) > 1`,
    );
  }

  /** Nothing moves an identity, not even an admin. */
  private keepsIdentity(change: Change): void {
    if (change.table !== 'identities' || change.op !== 'UPDATE') return;
    const moved = changedColumns(change).filter((name) => name !== 'label' && name !== 'last_used_at');
    demand(moved.length === 0, `2: an identity changed its ${moved.join(', ')}`);
  }

  private trace(change: Change): void {
    const { table } = change;
    const isHealth = table === 'connections' && changedColumns(change).every((name) => health.has(name));
    demand(traces.test(table) || isHealth, `4: a refused answer wrote ${describeChange(change)}`);
  }

  private tokens(change: Change): void {
    const isOwn =
      /^(authorization_codes|refresh_grants|participations|sessions|organization_memberships|device_|used_)/.test(
        change.table,
      );
    demand(isOwn, `the token endpoint wrote ${describeChange(change)}`);
    if (change.table !== 'organization_memberships') return;
    demand(
      changedColumns(change).every((name) => name === 'last_used_at'),
      `the token endpoint wrote ${describeChange(change)}`,
    );
  }

  /** Invariant 1, for a code or an access token when it begins. */
  private async code(reach: Reach, row: Row): Promise<void> {
    const { organization_id: organizationId, user_id: userId, session_id: sessionId } = row;
    if (reach.kind === 'browser') {
      demand(reach.person.sessions.has(sessionId), `1: a code of a session of another browser (${reach.person.name})`);
    }
    if (organizationId === null || userId === null) return;
    await this.lives({ userId, organizationId, sessionId, row });
  }

  private async lives(of: {
    userId: string;
    organizationId: string;
    sessionId: string | null;
    row: Row;
  }): Promise<void> {
    const place = await this.world.placeOf(of.organizationId, of.userId, of.sessionId);
    const name = place?.['slug'] ?? 'a deleted organization';
    demand(place?.['state'] === 'active', `1: a code in ${name}, which is not active`);
    demand(place['organizations_enabled'], `1: a code in ${name} of a project without organizations`);
    demand(
      place['membership'] === 'active',
      `1: a code in ${name}, of a user whose membership is ${place['membership']}`,
    );
    demand(place['active'], '1: a code of a deactivated user');
    const { amr, auth_time: at } = of.row;
    if (place['mfa_policy'] === 'required') demand(amr.includes('mfa'), `1: a code in ${name} without a second factor`);
    const isOfGrant = of.row['grant_id'] !== null;
    if (place['sign_in'] === 'connection' && !isOfGrant) {
      demand(place['connected']?.[of.organizationId], `1: a code in ${name} without a sign-in by its connection`);
    }
    const most = place['max_session_seconds'];
    if (most === null || isOfGrant) return;
    const since = place['sign_in'] === 'connection' ? place['connected'][of.organizationId] : at;
    const seconds = (this.world.now() - new Date(since).getTime()) / 1000;
    demand(seconds <= most + 1, `1: a code in ${name}, ${seconds} s after a sign-in that lasts ${most} s there`);
  }

  private async grant({ organization_id: organizationId, user_id: userId, session_id: sessionId }: Row): Promise<void> {
    if (organizationId === null) return;
    const place = await this.world.placeOf(organizationId, userId, sessionId);
    const isMember =
      place?.['membership'] === 'active' && place['state'] === 'active' && place['organizations_enabled'];
    demand(isMember, '1: a refresh grant of a user who is not a member');
  }

  /** A user moves home only into an organization that has verified the domain of their address, or to the project. */
  private async home({ old, new: row }: Change, reach: Reach): Promise<void> {
    const [from, to] = [old?.['organization_id'] ?? null, row?.['organization_id'] ?? null];
    if (old === null || from === to || reach.kind === 'admin') return;
    demand(reach.kind === 'inside', '3: a user moved home in a step of no directory');
    const customer = reach.customer;
    if (to !== null) {
      demand(to === customer.id, '3: a user moved home into another organization');
      const email = String(row?.['email'] ?? old['email'] ?? '');
      demand(
        await this.world.hasDomain(customer.id, email),
        `3: ${email} moved home into ${customer.slug} without its domain`,
      );
    }
  }

  /** Invariants 3 and 5: each row is of this organization, or of a user at home in it. */
  private async inside(customer: Customer, change: Change, all: readonly Change[]): Promise<void> {
    const { table, old, new: row } = change;
    const { id } = customer;
    const of = row ?? old ?? {};
    const says = `3: ${customer.slug} wrote ${describeChange(change)}`;
    if (table === 'organizations' || table === 'scim_tokens' || table === 'portal_links') {
      return demand((table === 'organizations' ? of['id'] : of['organization_id']) === id, says);
    }
    if (table === 'users') {
      const address = row?.['email_key'] ?? null;
      const isGiven = address !== null && address !== old?.['email_key'];
      if (isGiven)
        demand(await this.world.hasDomain(id, address), `3: ${customer.slug} gave ${address}, outside of its domains`);
      return demand(await this.isUserOf(customer, change, all), says);
    }
    if (table === 'organization_membership_roles') {
      const [membership] = await this.world.rows<Row>(
        'select organization_id from organization_memberships where project_id = ? and id = ?',
        [of['membership_id']],
      );
      return demand(membership === undefined || membership['organization_id'] === id, says);
    }
    // Of a context, for example the refresh grant of a former guest.
    if (of['organization_id'] === id) return;
    const connection = of['connection_id'] ?? (table === 'connections' ? of['id'] : undefined);
    if (
      connection !== undefined &&
      this.world.upstreams.some((one) => one.connection.id === connection && one.customer?.id === id)
    )
      return;
    if (table === 'group_members') {
      const [group] = await this.world.rows<Row>('select organization_id from groups where project_id = ? and id = ?', [
        of['group_id'],
      ]);
      return demand(group === undefined || group['organization_id'] === id, says);
    }
    // Of a session, which is checked by its user.
    if (table === 'participations' && row === null) return;
    if (table === 'ceremonies') {
      const accounts = ((of['evidence'] ?? []) as Row[]).flatMap(({ account }) => (account ? [String(account)] : []));
      for (const account of accounts) demand(await this.isAtHome(customer, account, all), says);
      return;
    }
    const userId = of['user_id'];
    demand(typeof userId === 'string' && (await this.isAtHome(customer, userId, all)), says);
  }

  private async isUserOf(customer: Customer, { old, new: row }: Change, all: readonly Change[]): Promise<boolean> {
    const places = [old, row].filter((one) => one !== null).map((one) => one['organization_id']);
    if (places.every((place) => place === customer.id)) return true;
    // Moved home in this step, see `home`.
    return all.some(
      (one) =>
        one.table === 'users' &&
        one.new?.['id'] === (row ?? old)?.['id'] &&
        one.new?.['organization_id'] === customer.id,
    );
  }

  /** At home there now, before this step, or in it. */
  private async isAtHome({ id }: Customer, userId: string, all: readonly Change[]): Promise<boolean> {
    const changed = all.some(
      ({ table, old, new: row }) =>
        table === 'users' &&
        (row ?? old)?.['id'] === userId &&
        [old, row].some((one) => one?.['organization_id'] === id),
    );
    if (changed) return true;
    const found = await this.world.rows('select 1 from users where project_id = ? and id = ? and organization_id = ?', [
      userId,
      id,
    ]);
    return found.length > 0;
  }

  /** Invariants 1 and 2, for a page in a browser. */
  private async browser(
    reach: Extract<Reach, { kind: 'browser' }>,
    change: Change,
    all: readonly Change[],
  ): Promise<void> {
    const { table, op, old, new: row } = change;
    const { mailbox, person, word } = reach;
    if (table === 'sessions') return this.session(reach, change);
    if (table === 'identities') {
      demand(op === 'INSERT' || op === 'UPDATE', `2: a page wrote ${describeChange(change)}`);
      if (op === 'INSERT') await this.identity(reach, row ?? {}, all);
      return;
    }
    if (table === 'users') {
      if (op === 'INSERT') return demand(word !== undefined || mailbox !== undefined, '2: a user without a proof');
      const kept = [
        'email',
        'email_key',
        'user_name',
        'user_name_key',
        'active',
        'organization_id',
        'external_id',
        'phone',
      ];
      const changed = changedColumns(change).filter((name) => kept.includes(name) && !isWaitingNoMore(change, name));
      return demand(
        op === 'UPDATE' && changed.length === 0,
        `2: a page of ${person.name} wrote ${describeChange(change)}`,
      );
    }
    if (table === 'organization_memberships') {
      const isUse = op === 'UPDATE' && changedColumns(change).every((name) => name === 'last_used_at');
      if (isUse || (await this.isPassed(change, all))) return;
      demand(
        op === 'INSERT' || (old?.['state'] === 'requested' && row?.['state'] === 'active'),
        `1: a page wrote ${describeChange(change)}`,
      );
      const organizationId = row?.['organization_id'];
      const isByConnection =
        row?.['source'] === 'connection' &&
        all.some(
          ({ table: at, op: how, new: made }) =>
            at === 'identities' &&
            how === 'INSERT' &&
            made?.['user_id'] === row['user_id'] &&
            this.world.upstreams.some(
              ({ connection, customer }) =>
                connection.id === made?.['connection_id'] && customer?.id === organizationId,
            ),
        );
      const isByDomain =
        row?.['source'] === 'domain' && mailbox !== undefined && (await this.world.hasDomain(organizationId, mailbox));
      return demand(
        isByConnection || isByDomain,
        `1: ${person.name} became a member without a reason (${row?.['source']})`,
      );
    }
    const isSettings =
      /^(projects|clients|organizations|organization_domains|connections|organization_roles|portal_links|scim_tokens|admin_|groups|group_members)$/.test(
        table,
      );
    const isHealth = table === 'connections' && changedColumns(change).every((name) => health.has(name));
    demand(!isSettings || isHealth, `a page of ${person.name} wrote ${describeChange(change)}`);
  }

  /** Part of the passage of a membership to the person whose address a directory named, outside of its domains. */
  private async isPassed({ old, new: row }: Change, all: readonly Change[]): Promise<boolean> {
    const { organization_id: organizationId, user_id: userId } = row ?? old ?? {};
    const record = all.find(
      ({ table, old: was, new: is }) =>
        table === 'users' &&
        was?.['account_id'] === null &&
        is?.['account_id'] != null &&
        is['organization_id'] === organizationId &&
        (row === null ? is['id'] : is['account_id']) === userId,
    );
    if (!record) return false;
    const [account] = await this.world.rows<Row>('select email_key from users where project_id = ? and id = ?', [
      record.new?.['account_id'],
    ]);
    const { email_key: given, last_sign_in_at: used, withheld_email_key: named } = record.old ?? {};
    demand(given === null && used === null, '1: an account that has a login or was used became a record');
    demand(account?.['email_key'] === named, `1: the record of ${named} became that of ${account?.['email_key']}`);
    return row === null || row['source'] === 'directory' || row['state'] === 'suspended';
  }

  private async session(reach: Extract<Reach, { kind: 'browser' }>, { op, old, new: row }: Change): Promise<void> {
    const { flow, mailbox, person, word } = reach;
    const isNew = op === 'INSERT' || old?.['auth_time'] !== row?.['auth_time'] || old?.['user_id'] !== row?.['user_id'];
    const gained = Object.entries((row?.['connected'] ?? {}) as Row)
      .filter(([id, at]) => old?.['connected']?.[id] !== at)
      .map(([id]) => id);
    for (const id of gained) {
      demand(
        flow?.connected.has(id),
        `1: a session of ${person.name} says that ${this.world.customerOf(id)?.slug} signed in`,
      );
    }
    if (!isNew || row === null) return;
    demand(word || mailbox, `1: a session of ${person.name} without a proof`);
    if (op === 'UPDATE')
      demand(person.sessions.has(row['id']), `1: ${person.name} signed in in the session of another browser`);
    person.sessions.add(row['id']);
    const [user] = await this.world.rows<Row>(
      'select email_key, active, organization_id from users where project_id = ? and id = ?',
      [row['user_id']],
    );
    demand(user?.['active'], '1: a session of a deactivated user');
    if (mailbox !== undefined)
      return demand(user['email_key'] === mailbox, `1: ${mailbox} proved, but the session is of ${user['email_key']}`);
    const { organizationId = null } = word?.connection ?? {};
    demand(
      organizationId === null || user['organization_id'] === organizationId,
      `1: the provider of ${this.world.customerOf(organizationId)?.slug} opened a session of a guest`,
    );
    const linked = await this.world.rows(
      'select 1 from identities where project_id = ? and connection_id = ? and subject = ? and user_id = ?',
      [word?.connection.id, word?.subject, row['user_id']],
    );
    demand(linked.length > 0, `2: ${word?.subject} signed in as ${user['email_key']} without an identity`);
  }

  /** Invariant 2. */
  private async identity(reach: Extract<Reach, { kind: 'browser' }>, row: Row, all: readonly Change[]): Promise<void> {
    const { flow, mailbox, word } = reach;
    const said = word ?? flow?.accepted;
    demand(
      said && said.connection.id === row['connection_id'] && said.subject === row['subject'],
      '2: an identity that no provider named in this flow',
    );
    const [user] = await this.world.rows<Row>(
      'select email_key, organization_id from users where project_id = ? and id = ?',
      [row['user_id']],
    );
    const { organizationId = null } = said.connection;
    const address = said.email.toLowerCase();
    demand(user?.['email_key'] === address, `2: ${said.subject} of ${address} was linked to ${user?.['email_key']}`);
    if (mailbox !== undefined) return demand(mailbox === address, `2: ${mailbox} proved, ${address} linked`);
    const isCreated = all.some(
      ({ table, op, new: made }) => table === 'users' && op === 'INSERT' && made?.['id'] === row['user_id'],
    );
    if (organizationId === null) return demand(isCreated, '2: a provider of the project linked an existing account');
    demand(
      await this.world.hasDomain(organizationId, address),
      `2: ${address} was linked without a proof, outside of the domains`,
    );
    demand(user['organization_id'] === organizationId, '2: an account at home elsewhere was linked without a proof');
  }
}

/** A user of a directory who becomes the record of a guest loses the number. */
function isWaitingNoMore({ old, new: row }: Change, name: string): boolean {
  return name === 'phone' && old?.['account_id'] === null && row?.['account_id'] != null && row['phone'] === null;
}
