import { generateSync } from 'otplib';
import { csrfHeader } from '../../../src/admin/api/server.ts';
import { pkce } from '../../browser.ts';
import { absorb, anyEnd, isPasskey } from '../absorb.ts';
import { keepRecoveryCodes } from '../accept.ts';
import type { Browser } from '../browsers.ts';
import { type Change, changedColumns, describeChange, type Row } from '../changes.ts';
import { goodCode, provesApp } from '../evidence.ts';
import { concerned, nameOf } from '../finish.ts';
import {
  type AuthRequest,
  demand,
  fold,
  type Model,
  type ProjectModel,
  type SessionModel,
  toleranceMs,
} from '../model.ts';
import { checkPhone, checkRefusal } from '../signin-rules.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';

const changes = [
  'revoke-device',
  'end-session',
  'end-other-sessions',
  'remove-factor',
  'renew-recovery-codes',
  'change-phone',
  'verify-phone',
  'drop-phone',
  'add-passkey',
  'add-passkey',
  'confirm',
  'revoke-device',
  'revoke-device',
  'cancel-recovery',
  'add-authenticator',
  'verify-authenticator',
  'drop-authenticator',
  'change-email',
  'verify-email',
  'verify-email',
  'drop-email',
] as const;
const freshMs = 5 * 60_000;
const adminFreshMs = 15 * 60_000;

const changeOf = (command: { change: number }): string => changes[command.change % changes.length] as string;
/** The number of a change in commands. */
export const numberOf = (change: (typeof changes)[number]): number => changes.indexOf(change);

/** Browsers on the account page and in the console. */
export class AccountActor {
  private readonly world: World;
  private readonly log: (line: string) => void;
  private readonly csrf = new Map<string, string>();
  private readonly owner: string | undefined;

  /** @param begin opens the hosted page for a request of the account page */
  constructor(
    world: World,
    private readonly begin: (app: number, tab: number, request: AuthRequest, browser: Browser) => Promise<void>,
    log: (line: string) => void,
  ) {
    this.world = world;
    this.log = log;
    this.owner = world.userOf(world.console.id, world.addresses[0] as string);
  }

  async change(command: {
    app: number;
    browser: number;
    project: number;
    change: number;
    pick: number;
  }): Promise<void> {
    const { world } = this;
    const projects = [...world.projects, world.console];
    // If this browser has no session, any browser that has one.
    const pairs = world.browsers.flatMap((browser) => projects.map((project) => ({ browser, project })));
    const at = command.browser * projects.length + command.project;
    const held = [...pairs.slice(at), ...pairs].find(
      ({ browser, project }) => cookieOf(browser, project) !== undefined,
    );
    if (!held) return;
    const { browser, project } = held;
    const session = world.model.sessions.get(world.model.cookies.get(cookieOf(browser, project) ?? '') ?? '');
    const change = changeOf(command);
    const form =
      change === 'verify-authenticator'
        ? await this.appForm(command, browser, project, session)
        : await this.form(change, command.pick, session);
    await this.send(command.app, browser, project, change, form, session, command.pick % 4);
  }

  async send(
    app: number,
    browser: Browser,
    project: ProjectModel,
    change: string,
    form: Record<string, string>,
    session: SessionModel | undefined,
    tab = 0,
  ): Promise<number> {
    const { world } = this;
    const csrf = await this.token(app, browser, project, session);
    const all = { change, project: project.id, csrf, ...form };
    const post = () => browser.post(`${world.process(app)}/account`, all, { Origin: world.issuer });
    const reply = await world.exchange(post, (answer, made) => {
      // A sign-in in flight at the same time may have renewed it.
      const renewed = session && world.model.sessions.get(session.id);
      this.settle(change, form, answer, made, { browser, project, session: renewed });
      return { ...answer, begun: made.find(({ table }) => table === 'authorization_requests')?.new };
    });
    if (reply.status < 400 && reply.begun) await this.follow(app, tab, browser, reply.location, reply.begun);
    return reply.status;
  }

  private settle(
    change: string,
    form: Record<string, string>,
    reply: Reply,
    made: readonly Change[],
    { browser, project, session }: { browser: Browser; project: ProjectModel; session: SessionModel | undefined },
  ): void {
    const { world } = this;
    const name = session ? nameOf(world.model, session.user) : 'anonymous';
    this.log(`browser ${browser.index} at /account of ${project.name} as ${name}: ${change}: ${reply.status}`);
    demand(reply.status < 500 || reply.status === 503, `/account failed: ${reply.status}`);
    if (reply.status >= 400) {
      return checkRefusal(made, `${change} at /account`);
    }
    this.check(change, form, made, session);
    absorb(world.model, made, { mayEnd: anyEnd });
    const isSaved = reply.location?.searchParams.get('notice') === 'saved';
    if (change === 'cancel-recovery' && session && isSaved) world.model.endRecoveries(session.user, 'cancelled');
    if (session && made.some(({ table, op }) => table === 'recovery_codes' && op === 'INSERT')) {
      world.model.interrupted.set(session.user, world.model.step);
      const shown = [...reply.text.matchAll(/<(?:li|code)[^>]*>([0-9a-z][0-9a-z-]{8,})</gi)];
      keepRecoveryCodes(
        world.model,
        session.user,
        shown.map(([, code]) => code as string),
      );
    }
    this.noteEnd(change, made, session);
    const isReplaced = made.some(
      ({ table, op, old }) => table === 'enrolments' && op === 'DELETE' && old?.['verified_at'],
    );
    if (change === 'verify-authenticator' && isReplaced && session)
      world.model.kill(session.user, 'another authenticator app');
    this.noteCodes(made, session);
  }

  /** Follows the redirect to the hosted page. */
  private async follow(app: number, tab: number, browser: Browser, to: URL | null, row: Row): Promise<void> {
    const { model } = this.world;
    const flow = to?.searchParams.get('flow') ?? '';
    const client = [...this.world.clients(), ...this.world.console.clients].find(({ id }) => id === row['client_id']);
    demand(client && flow !== '', 'the account page began no sign-in');
    await this.begin(
      app,
      tab,
      {
        ...{ flow, client, browser: browser.index, prompt: undefined, maxAge: undefined, step: model.step },
        ...{ at: model.now, needsPerson: true, addsPasskey: row['adds_passkey'], pkce: pkce() },
        addsAuthenticator: row['adds_authenticator'],
        ...{ issuer: this.world.issuer, scope: 'openid' },
      },
      browser,
    );
  }

  private noteEnd(change: string, made: readonly Change[], session: SessionModel | undefined): void {
    const ended = made.some(({ table, new: row }) => table === 'sessions' && row?.['ended_at'] != null);
    if (session && ended && change.startsWith('end-')) this.world.model.kill(session.user, `${change} at /account`);
  }

  private async form(change: string, pick: number, session: SessionModel | undefined): Promise<Record<string, string>> {
    const { addresses, model, phones, spare } = this.world;
    // Ids of any user: only the owner may change them.
    const any = (ids: string[]): Record<string, string> => ({ id: ids[(pick >> 2) % Math.max(1, ids.length)] ?? '' });
    const mineFirst = <T extends { user: string }>(all: Iterable<T>) =>
      [...all].toSorted((a, b) => Number(b.user === session?.user) - Number(a.user === session?.user));
    if (change === 'revoke-device') {
      const passkeys = [...model.passkeys.values()].filter(({ isRevoked }) => !isRevoked);
      const mine = passkeys.filter(({ user }) => user === session?.user);
      const theirs = mine.length > 0 && pick % 8 > 1 ? mine : passkeys;
      const isOfPasskey = pick % 4 > 0 && passkeys.length > 0;
      return any(isOfPasskey ? theirs.map(({ id }) => id) : mineFirst(model.devices.values()).map(({ id }) => id));
    }
    if (change === 'end-session') return any(mineFirst(model.sessions.values()).map(({ id }) => id));
    if (change === 'remove-factor') return any(mineFirst(model.enrolments.values()).map(({ id }) => id));
    if (change === 'change-phone') return { phone: phones[pick % 4] ?? '' };
    // Usually the address of another user.
    if (change === 'change-email') return { email: [...addresses, spare][pick % 8] ?? spare };
    const wanted = change === 'verify-phone' ? 'phone' : change === 'verify-email' ? 'email' : null;
    if (!wanted) return {};
    await this.world.deliver();
    const own = model.deliveries.findLast(({ owner, purpose }) => owner === session?.id && purpose === wanted);
    return { code: (pick % 4 > 0 ? own?.code : model.deliveries.at(-1)?.code) ?? '000000' };
  }

  /** CSRF token of the page's forms; constant during a session. */
  private async token(app: number, browser: Browser, project: ProjectModel, session?: SessionModel): Promise<string> {
    const known = session && this.csrf.get(session.id);
    if (known !== undefined) return known;
    const page = await browser.get(`${this.world.process(app)}/account?project=${project.id}`);
    checkRefusal(await this.world.processes.log.read(), 'GET /account');
    const token = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    if (session && token !== '') this.csrf.set(session.id, token);
    return token;
  }

  private check(change: string, form: Record<string, string>, made: readonly Change[], session?: SessionModel): void {
    const { model } = this.world;
    for (const one of made) {
      if (one.table === 'messages' || one.table === 'logout_deliveries') continue;
      const what = `${change} at /account: ${describeChange(one)}`;
      demand(session && !session.ended, `${what}, without a live session`);
      demand(model.allows(session), `${what}, by a session without a factor or passkey that is required`);
      const row = (one.new ?? one.old) as Row;
      const { user } = session;
      if (one.table === 'authorization_requests') {
        this.request(change, row, session);
        continue;
      }
      if (change === 'verify-email' && endsWorkOf(model, one, addressIn(made))) continue;
      const whose = concerned(model, one);
      const owners = whose.map((id) => nameOf(model, id)).join(' or ');
      demand(whose.includes(user), `${what} of ${owners} by a session of ${nameOf(model, user)}`);
      demand(model.user(user)['active'], `${what} by a person who is deactivated`);
      if (one.table === 'recovery_grants') {
        // Its code went to the former address.
        const isMoved = change === 'verify-email' && addressIn(made) !== '' && row['ended_at'] != null;
        demand(one.op === 'UPDATE' && (change === 'cancel-recovery' || isMoved), what);
      }
      const isOfKey = one.table === 'credentials' && isPasskey(one);
      if (isOfKey) demand(change === 'revoke-device' && one.op === 'UPDATE' && row['id'] === form['id'], what);
      if (
        !isOfKey &&
        (!/^(enrolments|recovery_codes|phone_changes|email_changes|users)$/.test(one.table) || isDrop(one))
      )
        continue;
      if (one.table === 'enrolments' && one.op === 'DELETE' && !one.old?.['verified_at']) continue;
      demand(session.personAt !== null, `${what} by a session that began with a device key alone`);
      demand(model.now - session.personAt < freshMs + toleranceMs, `${what} long after the user proved to be present`);
      demand(!session.isStale, `${what} by a session whose proof has ended`);
      const { recoveredAt } = session;
      const isRecovered = recoveredAt !== null && model.now - recoveredAt < freshMs + toleranceMs;
      const strong = session.hasFactor || isRecovered || model.factorsOf(user).length === 0;
      demand(strong, `${what} without the factor that the person has`);
      const others = model.factorsOf(user).filter(({ method }) => method !== 'email');
      // Regardless of the project's switch: it may be turned on again.
      const hasPasskey = model.holdsPasskey(user);
      const mayBeMailed = others.length === 0 && !hasPasskey;
      demand(
        session.isMfa || isRecovered || mayBeMailed,
        `${what} by the mailbox alone, though the user has a factor or passkey`,
      );
      if (one.table === 'users' && change === 'verify-email') this.email(form, one, session);
      else if (one.table === 'users') this.phone(user, form, row, session);
      if (one.table === 'enrolments' && one.op === 'UPDATE') this.app(form, one, session, what);
    }
  }

  /** The request of a sign-in that the account page begins: for the session's user, and never silent. */
  private request(change: string, row: Row, { user, project }: SessionModel): void {
    const what = `${change} at /account began a sign-in`;
    demand(/^(add-passkey|add-authenticator|confirm)$/.test(change), what);
    demand(row['hinted_user_id'] === user && row['project_id'] === project, `${what} of another user`);
    demand(row['person_required'] === true, `${what} that a device key may answer`);
    demand(row['adds_passkey'] === (change === 'add-passkey'), `${what} for another purpose`);
    demand(row['adds_authenticator'] === (change === 'add-authenticator'), `${what} for another purpose`);
  }

  /** An authenticator app counts from its first code on, in the session that its sign-in began it for. */
  private app(form: Record<string, string>, { old, new: row }: Change, session: SessionModel, what: string): void {
    if (old?.['verified_at'] !== null || row?.['verified_at'] === null) return;
    const { model } = this.world;
    const app = model.enrolments.get(row?.['id']);
    demand(app?.begunFor === session.id, `${what}, begun for another session`);
    demand(
      app.method === 'totp' && provesApp(model, app, form['code'] ?? ''),
      `${what}, by a code that is not of this app`,
    );
  }

  /** The secret of the app that the page shows to this browser; undefined: none. */
  async shownApp(app: number, browser: Browser, project: ProjectModel, session?: SessionModel) {
    const { model } = this.world;
    const page = await browser.get(`${this.world.process(app)}/account?project=${project.id}`);
    checkRefusal(await this.world.processes.log.read(), 'GET /account');
    const shown = /<p class="copy"><code>([A-Z2-7 ]+)<\/code>/.exec(page.text)?.[1]?.replaceAll(' ', '');
    if (shown === undefined) return undefined;
    const own = [...model.enrolments.values()].find(({ begunFor, verified }) => begunFor === session?.id && !verified);
    demand(own && own.user === session?.user, '/account showed the secret of an app that its session did not begin');
    own.secrets.add(shown);
    return shown;
  }

  /** The code of the app that the page shows, or another one. */
  private async appForm(
    { app, pick }: { app: number; pick: number },
    browser: Browser,
    project: ProjectModel,
    session?: SessionModel,
  ): Promise<Record<string, string>> {
    const shown = await this.shownApp(app, browser, project, session);
    const begun = [...this.world.model.enrolments.values()].flatMap(({ secrets }) => [...secrets]);
    const secret = pick % 8 === 0 ? begun.findLast((one) => one !== shown) : shown;
    if (secret === undefined || pick % 8 === 1) return { code: '000000' };
    return { code: generateSync({ secret, epoch: Math.floor(this.world.now() / 1000) }) };
  }

  private phone(user: string, form: Record<string, string>, row: Row, session: SessionModel): void {
    const good = goodCode(this.world.model, session.id, 'phone', form['code'] ?? '');
    demand(good && good.to === row['phone'], 'a phone number was changed by a code that it did not receive');
    good.isUsed = true;
    checkPhone(this.world.model, user, row['phone']);
  }

  /** The login address is one that a code of this session went to, and leads to no other user. */
  private email(form: Record<string, string>, change: Change, session: SessionModel): void {
    const { model } = this.world;
    const row = change.new as Row;
    const columns = changedColumns(change).filter((name) => !/^(updated_at|version)$/.test(name));
    const isLogin = columns.every((name) => /^(email|email_key|user_name|user_name_key|attributes)$/.test(name));
    demand(isLogin, `a change of the address changed ${columns.join(', ')}`);
    const good = goodCode(model, session.id, 'email', form['code'] ?? '');
    demand(good && good.to === fold(row['email']), 'an address was changed by a code that it did not receive');
    good.isUsed = true;
    const holders = model.named(session.project, fold(row['email'])).filter(({ id }) => id !== session.user);
    demand(holders.length === 0, `${row['email']} was given to two users`);
    const isNamed = change.old?.['provenance'] === 'scim' && columns.includes('user_name');
    demand(!isNamed, `${row['email']} became the user name of a user of a directory`);
  }

  private noteCodes(made: readonly Change[], session?: SessionModel): void {
    const { model } = this.world;
    for (const { table, op, new: row } of made) {
      const [, purpose] = /^(phone|email)-code$/.exec(row?.['template'] ?? '') ?? [];
      if (table !== 'messages' || op !== 'INSERT' || !purpose || !session) continue;
      model.waiting.set(row?.['id'], {
        ...{ reach: new Map([[fold(row?.['recipient']), [session.user]]]), owner: session.id },
        purpose: purpose as 'phone' | 'email',
        ...{ madeAt: model.now, madeStep: model.step, nextStep: model.nextStep, isUsed: false },
      });
    }
  }

  /** Calls the console's API with the cookie of a browser. */
  async console(command: { app: number; browser: number; operation: number }): Promise<void> {
    const { world } = this;
    const { model } = world;
    const browser = world.browsers[command.browser] as Browser;
    const secret = browser.jar.cookies.get(`lk-session-${world.console.id}`);
    if (secret === undefined) return;
    const session = model.sessions.get(model.cookies.get(secret) ?? '');
    const own = { ...browser.headers, [csrfHeader]: '1', Origin: world.issuer };
    const query =
      command.operation === 0
        ? 'query { me { id } }'
        : 'mutation($input: IssueAdminTokenInput!) { issueAdminToken(input: $input) { token } }';
    const input = { name: 'mine', role: 'OWNER' };
    const ask = () => world.graphql(world.process(command.app), query, { input }, own);
    await world.exchange(ask, (reply, made) => {
      const failed = reply.status !== 200 || reply.json['errors'] !== undefined;
      const name = session ? nameOf(model, session.user) : 'anonymous';
      this.log(
        `browser ${browser.index} at the console as ${name}: ${query.slice(0, 20)}: ${failed ? 'refused' : 'done'}`,
      );
      if (failed) return checkRefusal(made, 'an operation of the console');
      demand(session && !session.ended, 'the console served a browser without a live session');
      demand(model.user(session.user)['active'], 'the console served a person who is deactivated');
      demand(model.allows(session), 'the console served a session without a factor or passkey that is required');
      if (command.operation === 0) return demand(reply.json['data'].me.id === session.user, 'me is another user');
      demand(session.user === this.owner, `${name} issued an owner's token`);
      demand(session.personAt !== null, `${name} issued an owner's token by a device key alone`);
      demand(model.now - session.personAt < adminFreshMs + toleranceMs, `${name} issued an owner's token, not fresh`);
      demand(!session.isStale, `${name} issued an owner's token by a session whose proof has ended`);
    });
  }
}

function cookieOf(browser: Browser, project: ProjectModel): string | undefined {
  return browser.jar.cookies.get(`lk-session-${project.id}`);
}

/** A pending value has no effect yet; the rule for the user's row checks it when it is stored. */
function isDrop({ table, op }: Change): boolean {
  return /^(phone|email)_changes$/.test(table) && op === 'DELETE';
}

/** The new login address. */
function addressIn(made: readonly Change[]): string {
  return fold(made.find(({ table }) => table === 'users')?.new?.['email'] ?? '');
}

/** A change of the login address ends sign-ins that began with the new one, whose account they do not name. */
function endsWorkOf(model: Model, { table, op, new: row, old }: Change, address: string): boolean {
  const of = table === 'ceremonies' ? row : model.ceremonies.get((row ?? old)?.['ceremony_id']);
  if (!/^(ceremonies|one_time_codes)$/.test(table) || of?.['address'] !== address || of?.['account_id'] != null)
    return false;
  return table === 'one_time_codes' ? op !== 'INSERT' : op === 'UPDATE' && row?.['finished_at'] != null;
}
