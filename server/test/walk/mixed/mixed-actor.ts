import { system } from '../../../src/domain/kernel/actor.ts';
import { absorb } from '../absorb.ts';
import type { Mix } from '../commands.ts';
import { send } from '../wire.ts';
import type { World } from '../world.ts';
import { type Draft, Flows, flowField, redirect } from './flows.ts';
import { Dice, Party, type Seen } from './party.ts';
import { Rules } from './rules.ts';

/**
 * Two users of a third project. Each follows every flow, and mixes what they have seen into its parameters: their own values
 * of other flows, and those of the other user that can leak.
 */
export class MixedActor {
  private parties: Party[] = [];
  private project!: { id: string; slug: string };
  private clients: { id: string; isThirdParty: boolean }[] = [];
  private rules!: Rules;
  private flows!: Flows;

  constructor(
    private readonly world: World,
    private readonly log: (line: string) => void,
  ) {}

  async act({ app, party: index, seed, isHonest }: Mix): Promise<void> {
    if (this.parties.length === 0) await this.seed();
    const { world } = this;
    const { model } = world;
    const dice = new Dice(seed);
    const party = this.parties[index] as Party;
    if (dice.next() < 0.03) return this.byAdmin(app, party, dice);
    if (party.mustWait) {
      world.processes.clock.turn(31);
      party.mustWait = false;
    }
    if (party.isRevoked) await party.renewKey();
    const follows = dice.next() < 0.85;
    const name = follows ? party.next : (dice.of(Object.keys(this.flows.actions)) as string);
    const draft = await this.flows.actions[name]?.(party, dice);
    if (!draft) return;
    const isMixed = !isHonest && dice.next() < 0.6;
    const fields = this.mix(party, draft, isMixed ? dice : null);
    const isStranger = !isHonest && dice.next() < 0.06;
    const reply = await world.exchange(
      () => this.post(app, party, draft, fields, isStranger),
      (answer, changes) => {
        const shown = Object.entries(fields).map(([key, value]) => `${key}=${this.nameOf(value)}`);
        const { error, status } = answer.json;
        const summary = [answer.status, error?.code ?? error ?? status ?? '', answer.location?.pathname ?? ''].join(
          ' ',
        );
        this.log(`${party.name} ${name} {${shown.join(', ')}}${isStranger ? ' without cookies' : ''}: ${summary}`);
        this.rules.check({ party, name, fields, reply: answer, changes });
        absorb(model, changes);
        if (typeof answer.json['nonce'] === 'string') party.nonce = answer.json['nonce'];
        party.mustWait = answer.status === 429;
        party.isRevoked = error?.code === 'DEVICE_REVOKED';
        const isRefused = answer.status >= 400;
        const next = isRefused ? undefined : draft.applyStep(answer, fields, changes);
        // A mixed request that is refused changes nothing: the honest one may follow.
        const isOver = isRefused && !isMixed && !isStranger;
        if (follows) party.next = next ?? (isOver ? 'authorize' : party.next);
        return answer;
      },
    );
    if (!isStranger) party.browser.jar.keep(reply);
    await this.deliver();
  }

  private async seed(): Promise<void> {
    const { world } = this;
    const { make } = world.processes.apps[0];
    const project = await make.project({ name: 'Third', mfaPolicy: 'optional', signUp: 'open' });
    this.project = { id: project.id, slug: project.slug };
    const grantTypes = ['refresh_token' as const, 'device_code' as const];
    for (const thirdParty of [false, true]) {
      const redirectUris = [redirect];
      const { client } = await make.client(project, {
        name: `Third ${thirdParty}`,
        redirectUris,
        grantTypes,
        thirdParty,
      });
      this.clients.push({ id: client.id, isThirdParty: thirdParty });
    }
    const serial = String(world.model.step + world.model.users.size * 1000) + world.addresses[0]?.replace(/\D/g, '');
    for (const [place, name] of ['mallory', 'mona'].entries()) {
      const ip = world.browsers[place]?.ip.replace(/\.\d+$/, `.${10 + place}`) ?? '';
      const party = await Party.of(name, serial, 3 + place, ip);
      const { address } = party;
      const emails = [{ value: address, type: 'work', primary: true }];
      const login = { userName: address, userNameKey: address, email: address, emailKey: address };
      const user = await make.user(project, { ...login, phone: null, attributes: { emails, phoneNumbers: [] } });
      party.user = user.id;
      for (const { id } of this.clients) party.keep('client', id, 0);
      party.keep('user', user.id, 0);
      party.keep('address', address, 0);
      this.parties.push(party);
    }
    await world.services.projects.update(project.id, { deviceTrustSeconds: 30 * 86_400 }, system);
    absorb(world.model, await world.processes.log.read());
    this.rules = new Rules(world, this.parties, this.clients);
    const page = (party: Party, path: string) => this.page(party, path);
    this.flows = new Flows(world, this.project, this.clients, this.rules, page);
  }

  /** The values of a request: the right ones, or others from the bag. */
  private mix(party: Party, { fields }: Draft, dice: Dice | null): Record<string, string> {
    const mixed: Record<string, string> = {};
    for (const [name, [kind, right]] of Object.entries(fields)) {
      const value = dice && kind !== '' ? this.draw(party, kind, right, dice) : right;
      if (value !== undefined) mixed[name] = value;
    }
    return mixed;
  }

  private draw(party: Party, kind: string, right: string | undefined, dice: Dice): string | undefined {
    const chance = dice.next();
    if (chance < 0.6) return right;
    const others = this.parties.filter((one) => one !== party).flatMap((one) => one.leaked());
    const all = [...party.bag, ...others, ...this.victims()];
    const same = all.filter((one) => one.kind === kind);
    const found = dice.of(chance < 0.9 ? same : all);
    return found?.text ?? right;
  }

  /** Values that leak from the other actors of the walk. */
  private victims(): Pick<Seen, 'kind' | 'text'>[] {
    const { model } = this.world;
    const flows = model.transactions.slice(-6).flatMap(({ request }) => (request ? [request.flow] : []));
    const sids = [...model.sessions.keys()].slice(-4);
    return [
      ...flows.map((text) => ({ kind: 'flow', text })),
      ...sids.map((text) => ({ kind: 'session', text })),
      ...[...model.users.keys()].slice(0, 4).map((text) => ({ kind: 'user', text })),
      ...[...model.devices.keys(), ...model.passkeys.keys()].slice(-4).map((text) => ({ kind: 'device', text })),
      ...[...model.enrolments.keys()].slice(-3).map((text) => ({ kind: 'enrolment', text })),
      ...this.world.clients().map(({ id }) => ({ kind: 'client', text: id })),
    ];
  }

  private post(app: number, party: Party, draft: Draft, fields: Record<string, string>, isStranger: boolean) {
    const url = `${this.world.process(app)}${draft.path}`;
    const { headers: own } = party.browser;
    const caller: Record<string, string> = isStranger ? { 'X-Forwarded-For': party.browser.ip } : own;
    const query = new URLSearchParams(fields).toString();
    if (draft.as === 'query') return send(draft.method, `${url}?${query}`, { ...caller, ...draft.headers?.(fields) });
    const isJson = draft.as === 'json';
    const type = isJson ? 'application/json' : 'application/x-www-form-urlencoded';
    const origin: Record<string, string> = draft.as === 'form' ? {} : { Origin: this.world.issuer };
    const { [flowField]: _, ...rest } = fields;
    const body = isJson ? JSON.stringify(rest) : query;
    return send(draft.method, url, { 'Content-Type': type, ...caller, ...origin, ...draft.headers?.(fields) }, body);
  }

  /** Reads a page as the party, and one of its hidden fields. */
  private async page(party: Party, path: string): Promise<string> {
    const reply = await party.browser.get(`${this.world.process(0)}${path}`);
    const changes = await this.world.processes.log.read();
    this.rules.check({ party, name: `GET ${path}`, fields: { path }, reply, changes });
    absorb(this.world.model, changes);
    return reply.text;
  }

  private async deliver(): Promise<void> {
    await this.world.deliver();
    for (const { to, text } of this.world.inbox.splice(0)) {
      const code = /\b(\d{6}|[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5})\b/.exec(text)?.[1];
      const party = this.parties.find(({ address }) => address === to);
      if (code !== undefined && party) party.keep('otp', code, this.world.model.step);
    }
  }

  private nameOf(value: string): string {
    for (const party of this.parties) {
      const seen = party.bag.find(({ text }) => text === value);
      if (seen) return `${party.name}'s ${seen.kind} of ${seen.step}`;
    }
    return value.slice(0, 30);
  }

  /** An admin ends a party's open work, or deactivates their account for a time. */
  private async byAdmin(app: number, party: Party, dice: Dice): Promise<void> {
    const { model } = this.world;
    const actions = dice.of([['END_SESSIONS'], ['DEACTIVATE', 'ACTIVATE'], ['RESET_FACTORS']]) ?? [];
    for (const action of actions) {
      const query = 'mutation($input: ChangeUsersInput!) { changeUsers(input: $input) { done code } }';
      const input = { projectId: this.project.id, userIds: [party.user], action };
      const reply = await this.world.graphql(this.world.process(app), query, { input });
      absorb(model, await this.world.processes.log.read());
      this.log(`an admin: ${action} ${party.name}: ${reply.status}`);
      if (action === 'END_SESSIONS' || action === 'DEACTIVATE') party.endedStep = model.step;
    }
    if (actions.length > 0) party.next = 'authorize';
  }
}
