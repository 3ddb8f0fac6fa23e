import { generateSync } from 'otplib';
import { keyless } from './accept.ts';
import type { Browser, Tab } from './browsers.ts';
import type { Access, Ask, Open, Step } from './commands.ts';
import type { ClientModel, ProjectModel, SessionModel } from './model.ts';
import type { Authenticator, Deviations, Response } from './passkeys.ts';
import type { Processes } from './processes.ts';
import type { Walker } from './walker.ts';
import { Walker as Walkers } from './walker.ts';
import type { Reply } from './wire.ts';
import type { Policies } from './world.ts';

const open: Policies = {
  mfaPolicy: 'optional',
  signUp: 'open',
  emailFactor: false,
  passkeyPolicy: 'allowed',
  rememberMfaSeconds: 0,
};

interface How {
  process?: 0 | 1;
  /** False: without a proof. */
  proves?: boolean;
}

/** Scripted steps in a new world. The rules of the walk also check each step. */
export class Script {
  readonly walker: Walker;
  private tabs = 0;

  static async begin(processes: Processes, policies: Partial<Policies> = {}): Promise<Script> {
    return new Script(await Walkers.in(processes, { ...open, ...policies }));
  }

  private constructor(walker: Walker) {
    this.walker = walker;
  }

  get world() {
    return this.walker.world;
  }
  get ann(): string {
    return this.world.addresses[0] as string;
  }
  get ben(): string {
    return this.world.addresses[1] as string;
  }
  get carl(): string {
    return this.world.addresses[2] as string;
  }
  get first(): ProjectModel {
    return this.world.projects[0] as ProjectModel;
  }
  get client(): ClientModel {
    return this.first.clients[0] as ClientModel;
  }

  browser(index: number): Browser {
    return this.world.browsers[index] as Browser;
  }

  user(address: string, project = this.first): string {
    return this.world.userOf(project.id, address) ?? '';
  }

  turn(seconds: number): void {
    this.world.processes.clock.turn(seconds);
    this.walker.log(`${seconds} s pass`);
  }

  /** Opens a tab with a transaction. */
  async open(
    browser: number,
    entry: Open['entry'] = 'sdk',
    over: { ask?: Ask; access?: Access; key?: number; client?: number; process?: number } = {},
  ): Promise<Tab> {
    const tab = this.tabs++;
    const { ask = 'plain', access = 'base', key = 0, client = 0, process: app = 0 } = over;
    const command: Open = { do: 'open', app, tab, browser, entry, client, ask, access, person: 0, key, hasPkce: false };
    await this.walker.take(command);
    const opened = this.walker.signin.tabs[tab];
    if (!opened) throw new Error(`no transaction was begun:\n${this.walker.script.join('\n')}`);
    return opened;
  }

  step(tab: Tab, step: Step, fields: Record<string, unknown>, how: How = {}): Promise<Reply> {
    const kind = step === 'verify-device' ? 'registration' : 'use';
    const isBare = how.proves === false || keyless.test(step);
    const proof = isBare ? null : ({ kind, key: tab.key, deviation: null } as const);
    return this.walker.step(() => this.walker.signin.take(how.process ?? 0, tab, step, fields, proof));
  }

  /** The newest code delivered to a mailbox or phone. */
  async mail(to: string): Promise<string> {
    await this.walker.step(() => this.world.deliver());
    return this.world.model.deliveries.findLast((one) => one.to === to)?.code ?? '';
  }

  /** Runs authenticate and verify-email-otp. */
  async prove(tab: Tab, userid: string, fields: Record<string, unknown> = {}): Promise<Reply> {
    await this.step(tab, 'authenticate', { userid, ...fields });
    return this.step(tab, 'verify-email-otp', { userid, otp: await this.mail(userid) });
  }

  /** Runs a sign-in with a new key; the device is trusted afterwards. */
  async register(tab: Tab, userid: string, fields: Record<string, unknown> = {}): Promise<Reply> {
    await this.prove(tab, userid);
    return this.step(tab, 'verify-device', { userid, ...fields });
  }

  /** Enrolls an authenticator app on a new device; returns the secret. */
  async enrol(browser: number, userid: string, entry: Open['entry'] = 'sdk'): Promise<string> {
    const tab = await this.open(browser, entry);
    await this.register(tab, userid, { mfa_method: 'totp' });
    const then = await this.proceed(tab, userid);
    const secret: string = then.reply.json['totp']?.secret ?? '';
    await this.step(then.tab, 'verify-mfa', { userid, otp: this.totp(secret) });
    this.turn(31);
    return secret;
  }

  /** Asks for a challenge, and answers it with the newest passkey of a person, or with a new one. */
  async passkey(
    tab: Tab,
    purpose: 'sign_in' | 'registration',
    person: number,
    deviations: Deviations = {},
  ): Promise<Reply> {
    const asked = await this.step(tab, 'passkey-options', { purpose });
    const { options: json } = asked.json;
    if (json === undefined) return asked;
    const authenticator = this.world.authenticators[person] as Authenticator;
    const { issuer } = this.world;
    const id = authenticator.soft.credentials.at(-1)?.id ?? '';
    const isNew = purpose === 'registration';
    const options = {
      challenge: json.challenge,
      purpose: isNew ? ('registration' as const) : ('sign-in' as const),
      json,
    };
    const made = isNew
      ? authenticator.create(options, issuer, deviations)
      : authenticator.get(options, issuer, id, deviations);
    return this.answer(tab, isNew ? 'register-passkey' : 'verify-passkey', made);
  }

  /** Sends the answer of an authenticator. */
  answer(tab: Tab, step: Step, { credential, signed }: Response): Promise<Reply> {
    return this.walker.step(() => this.walker.signin.take(0, tab, step, { credential }, null, {}, signed));
  }

  /** Runs a sign-in on the hosted page that adds a passkey; the browser has a session afterwards. */
  async withPasskey(browser: number, userid: string, person: number, deviations: Deviations = {}): Promise<void> {
    const tab = await this.open(browser, 'hosted');
    await this.register(tab, userid);
    await this.passkey(tab, 'registration', person, deviations);
    await this.resume(tab);
    this.turn(31);
  }

  /** Runs authenticate and initiate-mfa after DEVICE_REGISTERED, in a new transaction if the old one has ended. */
  async proceed(tab: Tab, userid: string): Promise<{ tab: Tab; reply: Reply }> {
    let at = tab;
    let required = await this.step(at, 'authenticate', { userid });
    if (required.status !== 200) {
      at = await this.open(tab.browser.index, tab.txn.entry);
      required = await this.step(at, 'authenticate', { userid });
    }
    const fields = { userid, session_id: required.json['session_id'] ?? '' };
    return { tab: at, reply: await this.step(at, 'initiate-mfa', fields) };
  }

  totp(secret: string): string {
    return generateSync({ secret, epoch: Math.floor(this.world.now() / 1000) });
  }

  resume(tab: Tab): Promise<void> {
    return this.walker.step(() => this.walker.oidc.resume(0, tab));
  }

  exchange(): Promise<void> {
    return this.walker.take({ do: 'exchange', app: 0, pick: 0, deviation: 0 });
  }

  userInfo(): Promise<void> {
    return this.walker.take({ do: 'userinfo', app: 0, pick: 0 });
  }

  /** Logs out on the confirmation page, and forgets the browser. */
  forget(browser: number): Promise<void> {
    const logout = { do: 'logout', app: 0, browser, client: 0, hint: 7, isSession: false, isConfirmed: true } as const;
    return this.walker.take(logout);
  }

  admin(action: string, address: string, project = this.first): Promise<void> {
    const id = this.user(address, project);
    return this.walker.step(() => this.walker.admin.userAction(0, project, id, action, address));
  }

  patch(address: string, values: object): Promise<void> {
    const id = this.user(address);
    return this.walker.step(() => this.walker.admin.patch(0, this.first, id, values, address));
  }

  settings(values: Parameters<Walker['admin']['settings']>[1], project = this.first): Promise<void> {
    return this.walker.step(() => this.walker.admin.settings(project, values));
  }

  session(browser: number, project = this.first): SessionModel | undefined {
    const secret = this.browser(browser).jar.cookies.get(`lk-session-${project.id}`);
    return this.world.model.sessions.get(this.world.model.cookies.get(secret ?? '') ?? '');
  }

  account(browser: number, change: string, form: Record<string, string> = {}, project = this.first): Promise<number> {
    const of = this.session(browser, project);
    const by = this.browser(browser);
    return this.walker.step(() => this.walker.account.send(0, by, project, change, form, of));
  }

  /** The secret of the authenticator app that the account page shows to a browser. */
  app(browser: number, project = this.first): Promise<string | undefined> {
    const of = this.session(browser, project);
    return this.walker.step(() => this.walker.account.shownApp(0, this.browser(browser), project, of));
  }

  /** All lines of the script. */
  get text(): string {
    return this.walker.script.join('\n');
  }

  /** The last line of the script, with the last response. */
  get last(): string {
    return this.walker.script.at(-1) ?? '';
  }
}

/** The error of a rejected step. */
export function errorOf(reply: Reply): string {
  return reply.json['status'] === 'ERROR'
    ? String(reply.json['error'].code)
    : `${reply.status} ${reply.json['status']}`;
}
