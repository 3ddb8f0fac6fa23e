import { AccountActor } from './account-actor.ts';
import { AdminActor } from './admin-actor.ts';
import type { Command } from './commands.ts';
import { Violation } from './model.ts';
import { OidcActor } from './oidc-actor.ts';
import { probe } from './probe.ts';
import type { Processes } from './processes.ts';
import { SigninActor } from './signin-actor.ts';
import { type Policies, World } from './world.ts';

/** Runs commands in a new world, and records a script of the steps. */
export class Walker {
  readonly world: World;
  readonly script: string[] = [];
  readonly signin: SigninActor;
  readonly oidc: OidcActor;
  readonly admin: AdminActor;
  readonly account: AccountActor;

  static async in(processes: Processes, policies: Policies): Promise<Walker> {
    const walker = new Walker(await World.open(processes, policies));
    walker.say(`policies of First: ${JSON.stringify(policies)}`);
    return walker;
  }

  private constructor(world: World) {
    this.world = world;
    const say = (line: string) => this.say(line);
    this.oidc = new OidcActor(world, say);
    this.signin = new SigninActor(world, this.oidc, say);
    this.admin = new AdminActor(world, say);
    this.account = new AccountActor(world, (...to) => this.signin.openFor(...to), say);
  }

  say(line: string): void {
    this.script.push(`${String(this.world.model.step).padStart(4)}  ${line}`);
  }

  async run(commands: readonly Command[]): Promise<void> {
    for (const command of commands) await this.take(command);
  }

  async take(command: Command): Promise<void> {
    if (command.do === 'passkey') {
      await this.step(() => this.signin.askPasskey(command));
      await this.step(() => this.signin.answerPasskey(command));
      // Whatever became of the answer, its challenge is used up.
      const right = { ...command, bend: 0, holder: 0 };
      return command.bend > 3 ? this.step(() => this.signin.answerPasskey(right)) : undefined;
    }
    if (command.do !== 'finish') return this.step(() => this.act(command));
    for (let steps = 0; steps < 8; steps++) {
      const { app, tab } = command;
      const lure = (command.lure * (steps + 1)) % 32;
      await this.step(() => this.signin.go({ app: (app + steps) % 2, tab, lure }));
      const next = this.signin.tabs[tab]?.next;
      if (next === null || next === undefined) return;
    }
  }

  /** Runs one command. Throws a {@link Violation} whose message ends with the script so far. */
  async step<T>(act: () => Promise<T>): Promise<T> {
    const { model, processes } = this.world;
    model.step += 1;
    model.now = this.world.now();
    try {
      await this.admin.enableAgain();
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
      case 'bend':
        return this.signin.bend(command);
      case 'resume': {
        const tab = this.signin.tabs[command.tab];
        return tab && this.oidc.resume(command.app, tab);
      }
      case 'authorize': {
        const browser = this.world.browsers[command.browser];
        const clients = [...this.world.clients(), ...this.world.console.clients];
        const client = clients[command.client];
        if (browser && client) await this.oidc.begin(command.app, browser, client, command.ask);
        return;
      }
      case 'exchange':
        return this.oidc.exchange(command);
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
      case 'policy':
        return this.admin.policy(command);
      case 'client':
        return this.admin.client(command);
      case 'mail':
        return this.world.deliver();
      case 'probe':
        return probe(this.world, command, (line) => this.say(line));
      default:
        return this.surround(command);
    }
  }

  /** Advances time, skews clocks or exhausts budgets. */
  private async surround(command: Command): Promise<void> {
    const { model, processes } = this.world;
    if (command.do === 'clock') {
      processes.clock.turn(command.seconds);
      this.say(`${command.seconds} s pass`);
    }
    if (command.do === 'skew') {
      processes.skew(command.app, command.milliseconds);
      this.say(`the clock of process ${command.app} is off by ${command.milliseconds} ms`);
    }
    if (command.do !== 'spend') return;
    const { budgets } = processes.log;
    const spent = command.pick % 4 === 0 ? budgets : budgets.slice(command.pick % 3, (command.pick % 3) + 1);
    await processes.log.spend(spent);
    model.isTainted = true;
    this.say(`attackers exhaust ${spent.length} budgets of the last counted step`);
  }
}
