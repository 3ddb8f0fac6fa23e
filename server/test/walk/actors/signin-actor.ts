import { generateSync } from 'otplib';
import { pkce } from '../../browser.ts';
import type { DeviceKey } from '../../signin-browser.ts';
import { absorb, anyEnd, noteUse } from '../absorb.ts';
import { applyCookie, applyResult, applyStep, keyless, type Sent } from '../accept.ts';
import { checkWaiting } from '../approvals.ts';
import { type Browser, type ProofOf, post, Tab } from '../browsers.ts';
import type { Answer, ArbitraryStep, Open, Step } from '../commands.ts';
import { accountsOf } from '../evidence.ts';
import { mustBeAccepted, noteFailure } from '../liveness.ts';
import { type AuthRequest, type ClientModel, demand, type PasskeyModel, type Transaction } from '../model.ts';
import {
  type Authenticator,
  type Deviations,
  type Options,
  type Response,
  type Signed,
  usesPasskeys,
} from '../passkeys.ts';
import { checkEffects, checkNotice, checkRefusal } from '../signin-rules.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';
import type { OidcActor } from './oidc-actor.ts';

const methods = [undefined, 'totp', 'sms', 'email'] as const;

/** Users and attackers on the sign-in pages. */
export class SigninActor {
  readonly tabs: (Tab | undefined)[] = [];
  private readonly world: World;
  private readonly oidc: OidcActor;
  private readonly log: (line: string) => void;
  private opened = 0;

  constructor(world: World, oidc: OidcActor, log: (line: string) => void) {
    this.world = world;
    this.oidc = oidc;
    this.log = log;
  }

  /** Begins a transaction: on a page with the SDK, or on the hosted page through /authorize. */
  async open(command: Open): Promise<void> {
    const { world } = this;
    const browser = world.browsers[command.browser] as Browser;
    const clients = world.clients();
    const client = (command.entry === 'console' ? world.console.clients[0] : clients[command.client]) as ClientModel;
    const request =
      command.entry === 'sdk' ? null : await this.oidc.begin(command.app, browser, client, command.ask, command.access);
    if (command.entry === 'sdk' || request) await this.challenge(command, browser, client, request);
  }

  /** Opens the hosted page for a request of the account page. */
  async openFor(app: number, tab: number, request: AuthRequest, browser: Browser): Promise<void> {
    const { world } = this;
    const { client } = request;
    const entry = client.project === world.console ? ('console' as const) : ('hosted' as const);
    const cookie = browser.jar.cookies.get(`lk-session-${client.project.id}`) ?? '';
    const { user = '' } = world.model.sessions.get(world.model.cookies.get(cookie) ?? '') ?? {};
    const person = Math.max(0, world.addresses.indexOf(world.model.user(user)['email_key']));
    const of = { app, tab, browser: browser.index, entry, client: Math.max(0, world.clients().indexOf(client)) };
    const command: Open = { do: 'open', ...of, ask: 'login', access: 'base', person, key: 0, hasPkce: false };
    await this.challenge(command, browser, client, request);
  }

  private async challenge(
    command: Open,
    browser: Browser,
    client: ClientModel,
    request: AuthRequest | null,
  ): Promise<Tab | null> {
    const { world } = this;
    const process = world.process(command.app);
    const isOfClient = command.entry === 'sdk' || command.key === 2;
    const scope = `${isOfClient ? client.id : `hosted ${client.project.id}`} ${command.key % 2}`;
    const key = await browser.key(scope);
    const proof = command.entry === 'sdk' && command.hasPkce ? pkce() : null;
    const fields = { jkt: key.jkt, ...(proof && { code_challenge: proof.challenge, code_challenge_method: 'S256' }) };
    const page = { entry: command.entry, client, request };
    const reply = await post(process, 'challenge', JSON.stringify(fields), page, browser, world.issuer);
    const changes = await world.processes.log.read();
    const name = `T${++this.opened}`;
    this.log(`${name} begins: ${command.entry} of ${client.name}, browser ${command.browser}: ${brief(reply)}`);
    if (reply.status !== 200) {
      checkRefusal(changes, `challenge of ${name}`);
      return null;
    }
    const txn: Transaction = {
      ...{ name, txn: reply.json['txn'], entry: command.entry, client, jkt: key.jkt, request, pkce: proof },
      ...{ begunAt: world.now(), begunStep: world.model.step, named: null, remember: true, stepUp: null },
      ...{ origin: command.entry === 'sdk' ? client.origin : new URL(world.issuer).origin, issuer: world.issuer },
      ...{ challenge: null, endedAt: null, opensPasskey: false, owesPasskey: false },
      ...{
        pieces: [],
        earlier: null,
        ceremony: null,
        registered: [],
        registeredStep: -1,
        askedStep: -1,
        clock: () => world.now(),
      },
    };
    world.model.transactions.push(txn);
    checkEffects(world.model, { step: 'challenge', fields, txn }, changes);
    const tab = new Tab(browser, world.issuer, txn, key, scope, command);
    tab.nonce = reply.json['nonce'];
    this.tabs[command.tab] = tab;
    return tab;
  }

  /** Takes the next step as an honest page does; occasionally with another user's address. */
  async go(command: { app: number; tab: number; pick: number }): Promise<void> {
    const { world } = this;
    const { pick } = command;
    let tab = this.tabs[command.tab];
    // After DEVICE_REGISTERED some pages continue in the same transaction, others begin a new one.
    if (tab?.next === 'authenticate' && tab.txn.pieces.length > 0 && pick % 2 === 0) {
      const { opening, browser, txn } = tab;
      const { recoveryCode } = tab;
      tab = (await this.challenge(opening, browser, txn.client, txn.request)) ?? undefined;
      if (tab) tab.recoveryCode = recoveryCode;
    }
    if (tab?.mustWait) {
      tab.mustWait = false;
      world.processes.clock.turn(31);
      world.model.now = world.now();
      this.log('31 s pass');
    }
    if (!tab?.next) return this.open(this.again(command, tab));
    if (tab.next === 'resume') {
      tab.next = null;
      return this.oidc.resume(command.app, tab);
    }
    const step = this.step(tab, pick);
    if (keyless.test(step) && step !== 'verify-email-otp') return this.byPasskey(command.app, tab, step, pick);
    if (step === 'verify-email-otp' && pick < 4) return this.sendOtherAddress(command.app, tab, pick);
    const userid = step === 'authenticate' || tab.typed === '' ? this.address(tab.opening.person) : tab.typed;
    if (/otp|mfa|phone/.test(step)) await world.deliver();
    const fields: Record<string, unknown> = { userid };
    if (step === 'authenticate' && pick === 1) fields['step_up'] = 'change_phone_number';
    if (step === 'authenticate' && usesPasskeys(tab.txn) && pick % 4 === 3) fields['step_up'] = 'create_passkey';
    if (step === 'authenticate' && pick === 2) fields['remember_device'] = false;
    if (step === 'verify-email-otp') fields['otp'] = this.codeFor(tab, 'sign-in');
    if (step === 'verify-mfa') fields['otp'] = this.factorCode(tab);
    if (step === 'verify-mfa' && pick % 3 === 0) fields['remember_me'] = true;
    if (step === 'initiate-mfa') fields['session_id'] = tab.sessionId;
    if (step === 'change-phone-number') fields['phone_number'] = world.phones[pick % 4];
    if (step === 'verify-phone-number') fields['otp'] = this.codeFor(tab, 'phone');
    const method = methods[pick % 4];
    if (step === 'verify-device' && method !== undefined) {
      fields['mfa_method'] = method;
      if (method === 'sms') fields['phone_number'] = world.phones[tab.opening.person];
    }
    await this.take(command.app, tab, step, fields, this.proofFor(tab, step));
  }

  /** The next step: a person with a passkey usually uses it. */
  private step(tab: Tab, pick: number): Step {
    const mayUse = tab.next === 'authenticate' && usesPasskeys(tab.txn) && tab.options === null && pick % 4 > 0;
    if (mayUse && this.own(tab).length > 0 && !this.hasLost(tab)) return 'passkey-options';
    return tab.next as Step;
  }

  /** Asks for a challenge, or answers it, as an honest page does. */
  private async byPasskey(app: number, tab: Tab, step: Step, pick: number): Promise<void> {
    if (step === 'passkey-options') {
      if (tab.txn.opensPasskey && pick % 5 === 4) return void (tab.next = afterEnd(tab));
      const purpose = tab.txn.opensPasskey || tab.txn.owesPasskey ? { purpose: 'registration' } : {};
      return void (await this.take(app, tab, step, purpose, null));
    }
    const isVerified = pick % 5 > 0;
    const authenticator = this.authenticator(tab.opening.person);
    const [passkey] = this.own(tab).slice(pick % 2);
    const credentialId = (passkey ?? this.own(tab)[0])?.credentialId;
    if (!tab.options || (step === 'verify-passkey' && credentialId === undefined)) {
      tab.next = tab.txn.endedAt === null ? 'authenticate' : afterEnd(tab);
      return;
    }
    const { issuer } = this.world;
    const { origin } = tab.txn;
    const answer =
      step === 'register-passkey'
        ? authenticator.create(tab.options, issuer, { isVerified, origin })
        : authenticator.get(tab.options, issuer, credentialId as string, { isVerified, origin });
    await this.answer(app, tab, step, answer);
  }

  /** The passkeys of the tab's project on the authenticator of its person, newest first. */
  private own(tab: Tab, person = tab.opening.person): PasskeyModel[] {
    const all = [...this.world.model.passkeys.values()].filter(({ project }) => project === tab.txn.client.project.id);
    return all.filter(({ credentialId }) => this.authenticator(person).holds(credentialId)).toReversed();
  }

  /** Whether an admin lets the person of the tab sign in without the passkey or factor. */
  private hasLost(tab: Tab): boolean {
    if (tab.recoveryCode !== null) return true;
    const { model } = this.world;
    const people = model.named(tab.txn.client.project.id, tab.typed || this.address(tab.opening.person));
    return people.some(({ id }) => model.usableRecovery(id) !== undefined);
  }

  private authenticator(person: number): Authenticator {
    return this.world.authenticators[person % this.world.authenticators.length] as Authenticator;
  }

  private async answer(app: number, tab: Tab, step: Step, { credential, signed }: Response): Promise<Reply> {
    this.world.answers.push({ credential, signed });
    return this.take(app, tab, step, { credential }, null, {}, signed);
  }

  /** Asks for a challenge unless the last one is to be answered again. */
  async askPasskey(command: Answer): Promise<void> {
    const { app, tab: index, isRegistration, isAgain } = command;
    let tab = this.tabs[index];
    // Uses the tab if its page can still use a passkey; otherwise a person who has one opens the hosted page.
    if (!tab || tab.next === null || !usesPasskeys(tab.txn)) {
      await this.open(this.visit(app, index, command));
      tab = this.tabs[index];
    }
    if (!tab || (isAgain && tab.options)) return;
    const purpose = isRegistration || tab.txn.opensPasskey || tab.txn.owesPasskey ? 'registration' : 'sign_in';
    await this.take(app, tab, 'passkey-options', { purpose }, null);
  }

  private visit(app: number, tab: number, { pick }: Answer): Open {
    const { world } = this;
    const held = [...world.model.passkeys.values()].filter(({ isRevoked }) => !isRevoked);
    const passkey = held[pick % Math.max(1, held.length)];
    const person = world.authenticators.findIndex((one) => passkey && one.holds(passkey.credentialId));
    const isOfConsole = passkey?.project === world.console.id;
    const ask = pick % 3 === 0 ? ('login' as const) : ('plain' as const);
    return {
      ...{ do: 'open', app, tab, browser: pick % 3, entry: isOfConsole ? 'console' : 'hosted', ask, key: pick % 2 },
      client: Math.max(
        0,
        world.clients().findIndex(({ project }) => project.id === passkey?.project),
      ),
      ...{ person: person < 0 ? pick % 4 : person % 4, access: 'base', hasPkce: false },
    };
  }

  /** Answers a challenge, with at most one fault. */
  async answerPasskey(command: Answer): Promise<void> {
    const { world } = this;
    const tab = this.tabs[command.tab];
    if (!tab?.options) return;
    const { deviation, pick } = command;
    const other = this.tabs[(command.tab + 1 + (pick % 3)) % this.tabs.length]?.options ?? null;
    const isCreation = tab.options.purpose === 'registration';
    const step: Step = isCreation === (deviation !== 4) ? 'register-passkey' : 'verify-passkey';
    if (deviation === 5) {
      const sent = world.answers.at(-1 - (pick % 8));
      return void (sent && (await this.answer(command.app, tab, step, sent)));
    }
    const person = command.holder === 0 ? tab.opening.person : command.holder - 1;
    const deviations = { origin: tab.txn.origin, ...this.deviationsOf(deviation, other, pick) };
    const all = [...world.model.passkeys.values()];
    const authenticator = this.authenticator(person);
    const rpId = new URL(world.issuer).hostname;
    if (step === 'register-passkey') {
      const some = { rp: { id: rpId }, user: { id: 'AAAA' }, pubKeyCredParams: [{ alg: -7 }] };
      const options = { ...tab.options, json: { ...some, ...tab.options.json } };
      return void (await this.answer(command.app, tab, step, authenticator.create(options, world.issuer, deviations)));
    }
    const held =
      command.pick % 8 === 0 ? all.filter((one) => authenticator.holds(one.credentialId)) : this.own(tab, person);
    const signer = held[pick % Math.max(1, held.length)];
    if (!signer) return;
    const options: Options = { ...tab.options, json: { ...tab.options.json, rpId } };
    await this.answer(
      command.app,
      tab,
      step,
      authenticator.get(options, world.issuer, signer.credentialId, deviations),
    );
  }

  private deviationsOf(deviation: number, other: Options | null, pick: number): Deviations {
    const { model } = this.world;
    const all = [...model.passkeys.values()];
    const claims = all[pick % Math.max(1, all.length)]?.credentialId;
    const user = [...model.users.keys()][pick % model.users.size] ?? '';
    // Origins: one without an application, those of applications, their subdomain and another port, and the hosted
    // page.
    const { origin } = new URL(this.world.issuer);
    const apps = ['https://app.example.com', 'https://evil.app.example.com', 'https://app.example.com:8443'];
    const foreign = ['https://evil.example', ...apps, origin];
    const deviations: Record<number, Deviations> = {
      6: { isVerified: false },
      7: { isVerified: false },
      8: { challenge: other?.challenge },
      9: { origin: foreign[pick % foreign.length] as string },
      10: { rpId: 'evil.example' },
      11: { type: pick % 2 === 0 ? 'webauthn.create' : 'webauthn.get' },
      12: { isPresent: false },
      13: { isSynced: pick % 2 === 0 },
      14: { signCount: 0 },
      15: { claims },
      16: { claims, challenge: other?.challenge },
      17: { userHandle: pick % 3 === 0 ? null : Buffer.from(user).toString('base64url') },
      18: { challenge: this.world.answers.at(-1 - (pick % 4))?.signed.challenge },
    };
    return deviations[deviation] ?? {};
  }

  /** Begins the next sign-in of a tab, usually of the same user on the same device. */
  private again({ app, tab, pick }: { app: number; tab: number; pick: number }, before: Tab | undefined): Open {
    const ask = pick % 5 === 0 ? ('login' as const) : ('plain' as const);
    if (before && pick % 4 > 0) return { ...before.opening, app, tab, ask };
    const entry = (['sdk', 'hosted', 'console'] as const)[pick % 3] ?? 'sdk';
    const person = (pick >> 2) % 4;
    return {
      ...{ do: 'open', app, tab, browser: (pick >> 1) % 3, entry, client: pick % 7 === 0 ? 2 : pick % 2, ask, person },
      ...{ key: pick % 2, hasPkce: pick % 3 === 0, access: pick < 16 ? 'online' : 'offline' },
    };
  }

  /** An attack: sends another user's address before the code, ignoring the response. */
  private async sendOtherAddress(app: number, tab: Tab, person: number): Promise<void> {
    const fields = { userid: this.address(person) };
    await this.take(app, tab, 'authenticate', fields, this.proofFor(tab, 'authenticate'));
  }

  /** Takes an arbitrary step with arbitrary input. */
  async takeArbitrary(command: ArbitraryStep): Promise<void> {
    const { world } = this;
    const tab = this.tabs[command.tab];
    if (!tab?.next && command.stray > 9) return;
    if (!tab) return;
    const { step, flags } = command;
    const userid = command.who === 0 ? tab.typed || this.address(tab.opening.person) : this.address(command.who - 1);
    const other = this.tabs[(command.tab + 1 + (command.session % 4)) % this.tabs.length];
    const phone = world.phones[command.phone];
    const fields: Record<string, unknown> = { userid };
    if (step === 'authenticate' && flags === 1) fields['step_up'] = 'change_phone_number';
    if (step === 'authenticate' && flags === 3) fields['step_up'] = 'create_passkey';
    if (step === 'passkey-options' && flags > 3) fields['purpose'] = flags > 5 ? 'registration' : 'sign_in';
    if (/^(verify|register)-passkey$/.test(step)) {
      const sent = world.answers.at(-1 - (command.session % 6));
      if (!sent) return;
      return void (await this.answer(command.app, tab, step, sent));
    }
    if (step === 'authenticate') fields['remember_device'] = flags !== 2;
    if (/^verify-(email-otp|mfa|phone-number)$/.test(step)) fields['otp'] = await this.anyCode(tab, step, command.otp);
    if (step === 'verify-mfa') fields['remember_me'] = flags > 3;
    if (step === 'initiate-mfa') fields['session_id'] = (command.session < 3 ? tab : other)?.sessionId ?? '';
    if (step === 'verify-device' && methods[command.method]) fields['mfa_method'] = methods[command.method];
    if (/device|change/.test(step) && phone !== undefined) fields['phone_number'] = phone;
    const deviations = ['nonce', 'act', 'body', 'txn', 'audience'] as const;
    const key = command.key < 7 ? tab.key : this.anyKey(command.key, tab);
    const kind = (command.proof === 5) === (step === 'verify-device') ? 'use' : 'registration';
    const deviation = command.proof === 6 ? (deviations[flags % 5] ?? null) : null;
    const proof = command.proof === 7 || keyless.test(step) ? null : ({ kind, key, deviation } as ProofOf);
    const strayTxn = command.stray === 1 ? other?.txn.txn : undefined;
    const strayNonce = command.stray === 2 ? other?.nonce : undefined;
    const over = { ...(strayTxn && { txn: strayTxn }), ...(strayNonce && { nonce: strayNonce }) };
    await this.take(command.app, tab, step, fields, proof, over);
  }

  /** Takes a step and checks its result. */
  async take(
    app: number,
    tab: Tab,
    step: Step,
    fields: Record<string, any>,
    proof: ProofOf | null,
    over: { txn?: string; nonce?: string } = {},
    signed?: Signed,
  ): Promise<Reply> {
    const { world } = this;
    const { model } = world;
    // With the handle of another tab, the step belongs to that tab's transaction.
    const other = over.txn === undefined ? undefined : this.tabs.find((one) => one?.txn.txn === over.txn);
    const txn = other?.txn ?? tab.txn;
    if (typeof fields['userid'] === 'string') tab.typed = fields['userid'];
    const isStray = proof !== null && over.nonce !== undefined && over.nonce !== tab.nonce;
    const send = () => tab.step(world.process(app), step, fields, proof, over);
    return world.exchange(send, (reply, changes) => {
      const mustSucceed = mustBeAccepted(model, { step, fields, proof, txn }, tab.browser.ip, world.now());
      const shown = Object.entries(fields).map(
        ([name, value]) => `${name}=${signed && name === 'credential' ? this.describe(signed) : String(value)}`,
      );
      this.log(`${txn.name} ${step} {${shown.join(', ')}}${proofText(proof, txn)} on process ${app}: ${brief(reply)}`);
      const { status } = reply.json;
      demand(reply.status < 500 || reply.status === 503, `${step} of ${txn.name} failed: ${reply.status}`);
      if (reply.json['error']?.code === 'APPROVAL_REQUIRED') {
        checkWaiting(model, { step, fields, txn }, changes);
        model.waited += 1;
        absorb(model, changes);
        tab.next = null;
        return reply;
      }
      if (reply.status !== 200 || status === 'INVALID_EMAIL') {
        checkRefusal(changes, `${step} of ${txn.name}`, signed && txn);
        model.mirror(changes);
        if (signed && String(reply.json['error']?.code).startsWith('PASSKEY')) useUp(txn, step, signed);
        demand(
          !mustSucceed,
          `${step} of ${txn.name}: a correct code was rejected in the transaction that requested it`,
        );
        if (step === 'verify-email-otp') noteFailure(model, txn, tab.browser.ip);
        this.afterRefusal(tab, reply);
        return reply;
      }
      const sent: Sent = { step, fields, proof: isStray ? { ...proof, deviation: 'nonce' } : proof, txn, signed };
      applyStep(model, sent, reply, changes);
      checkEffects(model, { step, fields, txn, signed }, changes);
      if (step === 'register-passkey') checkNotice(model, { step, fields, txn }, changes);
      if (signed) useUp(txn, step, signed);
      absorb(model, changes, { txn, mayEnd: anyEnd });
      applyResult(model, sent, reply, changes);
      applyCookie(model, tab, reply, changes);
      this.proceed(tab, step, reply);
      return reply;
    });
  }

  private afterRefusal(tab: Tab, reply: Reply): void {
    const code: string = reply.json['error']?.code ?? '';
    if (code === 'DEVICE_REVOKED') tab.browser.forgetKey(tab.scope);
    tab.mustWait = code === 'RATE_LIMITED';
    const again = tab.txn.owesPasskey ? 'passkey-options' : 'authenticate';
    if (code.startsWith('PASSKEY')) tab.next = tab.txn.endedAt === null ? again : afterEnd(tab);
    // The page prompts for the address again.
    if (code === 'CODE_REJECTED' && tab.next === 'verify-email-otp') tab.next = 'authenticate';
    if (/TRANSACTION_EXPIRED|FLOW_EXPIRED|DEVICE_REVOKED|INVALID_API_KEY/.test(code)) tab.next = null;
  }

  private proceed(tab: Tab, step: Step, reply: Reply): void {
    const { status } = reply.json;
    const isEnd = status === 'SUCCESS' && step !== 'verify-email-otp';
    if (isEnd || status === 'MFA_REQUIRED') noteUse(this.world.model, tab.txn, isEnd);
    tab.sessionId = reply.json['session_id'] ?? tab.sessionId;
    tab.next = next(step, status, tab.txn.stepUp);
    tab.recovers = reply.json['method'] === 'passkey' && (this.own(tab).length === 0 || this.hasLost(tab));
    if (reply.json['method'] === 'passkey') tab.next = tab.recovers ? 'verify-mfa' : 'passkey-options';
    if (status === 'PASSKEY_OPTIONS') {
      const { options } = reply.json;
      const purpose = options.rp ? ('registration' as const) : ('sign-in' as const);
      tab.options = { challenge: options.challenge, purpose, json: options };
      tab.next = purpose === 'registration' ? 'register-passkey' : 'verify-passkey';
    }
    if (isEnd && tab.txn.opensPasskey) tab.next = 'passkey-options';
    else if (isEnd || status === 'PASSKEY_REGISTERED') tab.next ??= afterEnd(tab);
  }

  private address(person: number): string {
    return this.world.addresses[person % 4] as string;
  }

  private codeFor(tab: Tab, purpose: string): string {
    const own = this.world.model.deliveries.filter(({ owner }) => owner === tab.txn.txn);
    return own.findLast((one) => one.purpose === purpose)?.code ?? '000000';
  }

  private factorCode(tab: Tab): string {
    const { model } = this.world;
    const mine = accountsOf(model, tab.txn);
    if (tab.recoveryCode !== null) return tab.recoveryCode;
    const granted = mine.flatMap((id) => model.usableRecovery(id) ?? []);
    if (granted[0]) return granted[0].code;
    const codes = [...model.recoveryCodes].filter(([, { isUsed, user }]) => !isUsed && mine.includes(user));
    if (tab.recovers) return codes[0]?.[0] ?? '0000-0000-0000-0000';
    const own = model.deliveries.findLast(({ owner, purpose }) => owner === tab.txn.txn && purpose === 'factor');
    if (own) return own.code;
    const app = [...model.enrolments.values()].findLast(({ secrets, user }) => secrets.size > 0 && mine.includes(user));
    const secret = [...(app?.secrets ?? [])].at(-1);
    return secret ? generateSync({ secret, epoch: Math.floor(this.world.now() / 1000) }) : '000000';
  }

  private async anyCode(tab: Tab, step: Step, choice: number): Promise<string> {
    const { model } = this.world;
    if (choice < 8) await this.world.deliver();
    if (choice < 3) return step === 'verify-mfa' ? this.factorCode(tab) : this.codeFor(tab, 'sign-in');
    if (choice < 6) return model.deliveries.at(-1 - ((choice - 3) % 3))?.code ?? '000000';
    if (choice === 6) return model.deliveries.at(choice % Math.max(1, model.deliveries.length))?.code ?? '';
    // Includes recoveries of others, and waiting, cancelled or used ones.
    const recovery = model.recoveries.at(-1 - (this.opened % 2))?.code;
    if (choice === 7) return recovery ?? [...model.recoveryCodes.keys()].at(0) ?? '000000';
    return choice === 8 ? '000000' : this.codeFor(tab, 'phone');
  }

  private anyKey(choice: number, tab: Tab): DeviceKey {
    const all = this.world.browsers.flatMap((browser) => browser.allKeys());
    return all[choice % Math.max(1, all.length)] ?? tab.key;
  }

  private describe({ signer, credentialId, ...signed }: Signed): string {
    const { model } = this.world;
    const of = (id: string) => {
      const passkey = [...model.passkeys.values()].find((one) => one.credentialId === id);
      return passkey ? `${model.user(passkey.user)['user_name']}'s ${id.slice(0, 4)}` : id.slice(0, 4);
    };
    const { isVerified, isPresent, isSynced, signCount } = signed;
    const flags = `${isVerified ? 'UV' : ''}${isPresent ? '' : ' no UP'}${isSynced ? ' BE' : ''} ${signCount}`;
    const claim = signer === credentialId ? '' : ` as ${of(credentialId)}`;
    return `${of(signer)}${claim} ${flags} for ${signed.challenge.slice(0, 4)} at ${signed.origin} (${signed.rpId})`;
  }

  private proofFor(tab: Tab, step: Step): ProofOf | null {
    if (keyless.test(step)) return null;
    return { kind: step === 'verify-device' ? 'registration' : 'use', key: tab.key, deviation: null };
  }
}

/** A page leaves after a sign-in; the hosted page returns to the application. */
function afterEnd(tab: Tab): string | null {
  return tab.txn.entry === 'sdk' ? null : 'resume';
}

/** Even a wrong answer uses up its challenge. */
function useUp({ challenge }: Transaction, step: Step, signed: Signed): void {
  const purpose = step === 'register-passkey' ? 'registration' : 'sign-in';
  if (challenge?.value === signed.challenge && challenge.purpose === purpose) challenge.isUsed = true;
}

function next(step: Step, status: string, stepUp: string | null): Step | null {
  if (status === 'OTP_NEEDED') return 'verify-email-otp';
  if (status === 'PASSKEY_ENROLLMENT_NEEDED') return 'passkey-options';
  if (step === 'verify-email-otp' || status.endsWith('NEEDED')) return 'verify-device';
  if (status === 'DEVICE_REGISTERED') return 'authenticate';
  if (status === 'MFA_REQUIRED') return 'initiate-mfa';
  if (status === 'MFA_INITIATED') return 'verify-mfa';
  if (status === 'PHONE_CODE_SENT') return 'verify-phone-number';
  return status === 'SUCCESS' && stepUp === 'change_phone_number' ? 'change-phone-number' : null;
}

function proofText(proof: ProofOf | null, txn: Transaction): string {
  if (!proof) return '';
  const whose = proof.key.jkt === txn.jkt ? 'own key' : `key ${proof.key.jkt.slice(0, 4)}`;
  return `, ${proof.kind} proof by ${whose}${proof.deviation ? ` with a wrong ${proof.deviation}` : ''}`;
}

function brief(reply: Reply): string {
  return `${reply.status} ${reply.json['error']?.code ?? reply.json['status'] ?? ''}`;
}
