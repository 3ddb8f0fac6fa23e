import { AccessActor } from './actors/access-actor.ts';
import { AccountActor, numberOf } from './actors/account-actor.ts';
import { AdminActor } from './actors/admin-actor.ts';
import { ApprovalActor } from './actors/approval-actor.ts';
import { OidcActor } from './actors/oidc-actor.ts';
import { RecoveryActor } from './actors/recovery-actor.ts';
import { RefreshActor } from './actors/refresh-actor.ts';
import { SigninActor } from './actors/signin-actor.ts';
import type { Change } from './changes.ts';
import type { Arrive, Both, Command, OwnChange, Recover } from './commands.ts';
import { Meeting } from './meeting.ts';
import { MixedActor } from './mixed/mixed-actor.ts';
import { Violation } from './model.ts';
import { probe } from './probe.ts';
import type { Processes } from './processes.ts';
import { type Policies, World } from './world.ts';

/** Runs commands in a new world, and records a script of the steps. */
export class Walker {
  readonly world: World;
  readonly script: string[] = [];
  readonly signin: SigninActor;
  readonly oidc: OidcActor;
  readonly admin: AdminActor;
  readonly access: AccessActor;
  readonly approvals: ApprovalActor;
  readonly account: AccountActor;
  readonly refresh: RefreshActor;
  readonly recovery: RecoveryActor;
  readonly mixed: MixedActor;

  static async in(processes: Processes, policies: Policies): Promise<Walker> {
    const walker = new Walker(await World.open(processes, policies));
    walker.log(`policies of First: ${JSON.stringify(policies)}`);
    return walker;
  }

  private constructor(world: World) {
    this.world = world;
    const log = (line: string) => this.log(line);
    this.oidc = new OidcActor(world, log);
    this.signin = new SigninActor(world, this.oidc, log);
    this.admin = new AdminActor(world, log);
    this.access = new AccessActor(world, log);
    this.approvals = new ApprovalActor(world, log);
    this.refresh = new RefreshActor(world, log);
    this.recovery = new RecoveryActor(world, log);
    this.mixed = new MixedActor(world, log);
    this.account = new AccountActor(world, (...to) => this.signin.openFor(...to), log);
  }

  log(line: string): void {
    this.script.push(`${String(this.world.model.step).padStart(4)}  ${line}`);
  }

  async run(commands: readonly Command[]): Promise<void> {
    for (const command of commands) await this.take(command);
  }

  async take(command: Command): Promise<void> {
    if (command.do === 'passkey') {
      await this.step(() => this.signin.askPasskey(command));
      await this.step(() => this.signin.answerPasskey(command));
      // The challenge is used up, whether the answer was accepted or not.
      const right = { ...command, deviation: 0, holder: 0 };
      return command.deviation > 3 ? this.step(() => this.signin.answerPasskey(right)) : undefined;
    }
    if (command.do === 'recovery' && command.act === 'lose') return this.lose(command);
    if (command.do === 'access' && command.act === 'shut-out') return this.shutOut(command.app);
    if (command.do === 'arrive') return this.arrive(command);
    if (command.do === 'app' || command.do === 'move') return this.changeOwn(command);
    if (command.do === 'both') return this.together(command);
    if (command.do !== 'finish') return this.step(() => this.act(command));
    const { app, tab } = command;
    for (let steps = 0; steps < 10; steps++) {
      const pick = (command.pick * (steps + 1)) % 32;
      await this.step(() => this.signin.go({ app: (app + steps) % 2, tab, pick }));
      const next = this.signin.tabs[tab]?.next;
      if (next === null || next === undefined) break;
    }
    // In three of four sign-ins the application redeems the code immediately.
    const isNew = this.world.model.codes.at(-1)?.step === this.world.model.step;
    if (isNew && command.pick % 4 > 0) return this.step(() => this.act({ do: 'exchange', app, pick: 0, deviation: 0 }));
  }

  /** A user loses access to an application, which then uses their code, tokens and sessions. */
  private async shutOut(app: number): Promise<void> {
    const client = await this.step(() => this.access.shutOut(app));
    if (!client) return;
    await this.take({ do: 'exchange', app, pick: 0, deviation: 0 });
    await this.take({ do: 'userinfo', app, pick: 0 });
    await this.take({ do: 'refresh', app, pick: 0, deviation: 'live' });
    for (const browser of this.world.browsers)
      await this.step(() => this.oidc.begin(app, browser, client, 'plain', 'online').then(() => undefined));
  }

  /** A person asks to sign up where an admin must approve it; after the decision, they sign in again. */
  private async arrive({ app, tab, browser, entry, pick }: Arrive): Promise<void> {
    const found = await this.step(() => this.approvals.require(app, pick));
    if (!found) return;
    const page = { entry, ...found, ask: 'plain', access: 'base', key: 0, hasPkce: false } as const;
    const at = { app, tab, browser };
    const act = pick % 4 === 0 ? 'decline' : 'approve';
    for (let times = 0; times < 2; times += 1) {
      await this.take({ do: 'open', ...at, ...page });
      await this.take({ do: 'finish', app, tab, pick: 4 + (pick % 28) });
      if (times > 0) return;
      await this.step(() => this.approvals.decide({ app, act, pick: 0 }));
      // Another admin decides, too.
      if (pick % 8 > 5) await this.step(() => this.approvals.decide({ app: 1 - app, act: 'approve', pick: 0 }));
    }
  }

  /** Two actors, each at its own process, with both requests in flight at once. */
  private async together({ first, second }: Both): Promise<void> {
    const { world } = this;
    const sides = [first, second ?? first].map((command, app) => () => this.act({ ...command, app } as Command));
    await this.step(async () => {
      const meeting = new Meeting(world.model, this.script, [this.signin.tabs, world.browsers, this.mixed]);
      world.meeting = meeting;
      const gathered: { isHeld: boolean; end: Promise<unknown> }[] = [];
      try {
        for (const side of sides) gathered.push(await meeting.gather(side));
        world.model.now = world.now();
      } finally {
        world.meeting = null;
      }
      const held = gathered.filter(({ isHeld }) => isHeld);
      if (held.length === 2) this.log('at once:');
      const releases = held.length > 0 ? await meeting.run(() => this.changesOf(held.length)) : [];
      for (const [place, { end }] of held.entries()) {
        releases[place]?.();
        await end;
      }
      await Promise.all(gathered.map(({ end }) => end));
    });
  }

  /** The changes of each request in flight. */
  private async changesOf(requests: number): Promise<Change[][]> {
    const { processes } = this.world;
    return requests === 2 ? processes.log.readBoth() : [await processes.log.read()];
  }

  /**
   * A user signs in, confirms the sign-in on the account page, and adds an authenticator app with its first code, or asks for
   * the code of a new address and enters it.
   */
  private async changeOwn({ do: what, app, tab, browser: own, client, person, pick }: OwnChange): Promise<void> {
    const page = { entry: 'hosted', client, ask: 'plain', access: 'base', person, key: 0, hasPkce: false } as const;
    await this.take({ do: 'open', app, tab, browser: own, ...page });
    await this.take({ do: 'finish', app, tab, pick: 4 + (pick % 28) });
    const project = this.world.projects.findIndex(({ id }) => id === this.world.clients()[client]?.project.id);
    const change = { do: 'account', app, browser: own, project, pick: tab + 4 * (pick % 16) } as const;
    const begin = what === 'app' ? 'add-authenticator' : 'confirm';
    await this.step(() => this.account.change({ ...change, change: numberOf(begin) }));
    await this.take({ do: 'finish', app, tab, pick: 4 + ((pick * 5) % 28) });
    if (what === 'move')
      await this.step(() => this.account.change({ ...change, pick, change: numberOf('change-email') }));
    if (pick % 16 === 0) await this.take({ do: 'clock', seconds: 301 });
    const browser = pick % 16 === 1 ? (own + 1) % 3 : own;
    const verify = what === 'app' ? 'verify-authenticator' : 'verify-email';
    await this.step(() => this.account.change({ ...change, browser, change: numberOf(verify) }));
  }

  /**
   * An admin grants a recovery. Usually after its waiting time, the user signs in with its code or with the code of
   * another user.
   */
  private async lose(command: Recover): Promise<void> {
    const { app, browser, pick } = command;
    const how = (['right', 'right', 'twice', 'early', 'cancelled', 'foreign'] as const)[pick % 6];
    const other = { ...command, person: command.person + 1 };
    if (how === 'foreign') await this.step(() => this.recovery.grant(other));
    const { recoveries } = this.world.model;
    const foreign = recoveries.at(-1);
    const granted = await this.step(() => this.recovery.grant(command));
    if (!granted) return;
    const code = (how === 'foreign' ? foreign : recoveries.at(-1))?.code ?? null;
    await this.take({ do: 'clock', seconds: how === 'early' ? 61 : 3610 });
    if (how === 'cancelled') await this.take({ ...command, act: 'cancel', pick: 1 });
    const at = { app, tab: pick % 4 };
    const { entry, client, person } = granted;
    const access = pick % 2 === 0 ? 'offline' : 'base';
    const page = { entry, client, ask: 'plain', access, person, key: pick % 2, hasPkce: false } as const;
    for (let times = how === 'twice' ? 2 : 1; times > 0; times -= 1) {
      await this.take({ do: 'open', ...at, ...page, browser: (browser + times) % 3 });
      const tab = this.signin.tabs[at.tab];
      if (tab) tab.recoveryCode = code;
      await this.take({ do: 'finish', ...at, pick: 4 + (pick % 28) });
    }
  }

  /** Runs one command. Throws a {@link Violation} whose message ends with the script so far. */
  async step<T>(act: () => Promise<T>): Promise<T> {
    const { model, processes } = this.world;
    model.step += 1;
    model.now = this.world.now();
    try {
      await this.admin.enableAgain();
      await this.access.openAgain();
      const result = await act();
      const bugs = processes.bugs();
      if (bugs.length > 0) throw new Violation(`a bug was logged: ${bugs[0]?.slice(0, 600)}`);
      return result;
    } catch (thrown) {
      if (thrown instanceof Violation) throw new Violation(`${thrown.message}\n\n${this.script.join('\n')}\n`);
      throw new Error(`${String(thrown)}\n\n${this.script.join('\n')}\n`, { cause: thrown });
    }
  }

  private async act(command: Command): Promise<void> {
    switch (command.do) {
      case 'open':
        return this.signin.open(command);
      case 'go':
        return this.signin.go(command);
      case 'arbitrary':
        return this.signin.takeArbitrary(command);
      case 'resume': {
        const tab = this.signin.tabs[command.tab];
        return tab && this.oidc.resume(command.app, tab);
      }
      case 'authorize': {
        const browser = this.world.browsers[command.browser];
        const clients = [...this.world.clients(), ...this.world.console.clients];
        const client = clients[command.client];
        if (browser && client) await this.oidc.begin(command.app, browser, client, command.ask, command.access);
        return;
      }
      case 'exchange':
        return this.oidc.exchange(command);
      case 'refresh':
        return this.refresh.send(command);
      case 'recovery':
        return this.recovery.act(command);
      case 'userinfo':
        return this.oidc.userInfo(command);
      case 'logout':
        return this.oidc.logout(command);
      case 'account':
        return this.account.change(command);
      case 'console':
        return this.account.console(command);
      case 'people':
        return this.admin.people(command);
      case 'leave':
        return this.admin.leave(command);
      case 'policy':
        return this.admin.policy(command);
      case 'client':
        return this.admin.client(command);
      case 'access':
        return this.access.change(command);
      case 'approval':
        return this.approvals.decide(command);
      case 'mail':
        return this.world.deliver();
      case 'mix':
        return this.mixed.act(command);
      case 'probe':
        return probe(this.world, command, (line) => this.log(line));
      default:
        return this.surround(command);
    }
  }

  /** Advances time, skews clocks or exhausts budgets. */
  private async surround(command: Command): Promise<void> {
    const { model, processes } = this.world;
    if (command.do === 'clock') {
      processes.clock.turn(command.seconds);
      this.log(`${command.seconds} s pass`);
    }
    if (command.do === 'skew') {
      processes.skew(command.app, command.milliseconds);
      this.log(`the clock of process ${command.app} is off by ${command.milliseconds} ms`);
    }
    if (command.do !== 'spend') return;
    const { budgets } = processes.log;
    const spent = command.pick % 4 === 0 ? budgets : budgets.slice(command.pick % 3, (command.pick % 3) + 1);
    await processes.log.spend(spent);
    model.isTainted = true;
    this.log(`attackers exhaust ${spent.length} budgets of the last counted step`);
  }
}
