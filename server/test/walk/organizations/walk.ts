import { decodeJwt } from 'jose';
import { basic, send } from '../../machine.ts';
import { answerOf } from '../../organizations.ts';
import { AdminSteps } from './admin-steps.ts';
import { CustomerSteps } from './customer-steps.ts';
import { type Customer, Customers, type Flow, type Held, type Person, type Stage, type Upstream } from './customers.ts';
import { type Done, deviations, Pages } from './pages.ts';
import { Rules, Violation } from './rules.ts';

/** A step: the place of its kind in the table, and numbers that choose its subjects. */
export interface Step {
  kind: number;
  by: readonly number[];
}

/** Numbers from 0 to 1 (mulberry32). */
function randomOf(start: number): () => number {
  let state = start | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** The steps of one world. */
export function plan(seed: number, length: number): Step[] {
  const random = randomOf(seed);
  const number = () => Math.floor(random() * 5040);
  return Array.from({ length }, () => ({ kind: number(), by: [number(), number(), number(), number()] }));
}

const pick = <T>(of: readonly T[], by: number | undefined): T => of[(by ?? 0) % of.length] as T;

/** Random steps of people, their providers, directories, IT contacts and admins in one world. Each step is followed by the rules. */
export class OrganizationWalk {
  private readonly rules: Rules;
  private readonly pages: Pages;
  private readonly directory: CustomerSteps;
  private readonly admin: AdminSteps;
  private readonly steps: (() => Promise<Done>)[];
  private by: readonly number[] = [];

  static async in(stage: Stage): Promise<OrganizationWalk> {
    return new OrganizationWalk(await Customers.open(stage));
  }

  private constructor(readonly world: Customers) {
    this.rules = new Rules(world);
    this.pages = new Pages(world);
    this.directory = new CustomerSteps(world);
    this.admin = new AdminSteps(world);
    const often = (count: number, step: () => Promise<Done>) => Array.from({ length: count }, () => step);
    this.steps = [
      ...often(10, () => this.authorize()),
      ...often(12, () => this.connect()),
      ...often(8, () => this.mail()),
      ...often(5, () => this.redeem()),
      ...often(5, () => this.refresh()),
      ...often(4, () => this.use()),
      ...often(7, () => this.scim()),
      ...often(3, () => this.portal()),
      ...often(12, () => this.administer()),
    ];
  }

  async run(steps: readonly Step[]): Promise<void> {
    const { app, log } = this.world.stage;
    for (const { kind, by } of steps) {
      this.by = by;
      // Codes live for a minute; sometimes one passes.
      app.clock.turn((by[3] ?? 0) % 11 === 0 ? 90 : 2);
      const { outcome, reach } = await pick(this.steps, kind)();
      this.world.script.push(`${reach.kind} ${outcome}`);
      this.world.count(outcome);
      await this.rules.check(reach, await log.read());
      // Membership and policy hold before the jobs, too, which end what is left.
      if (this.world.script.length % 5 === 0) {
        await app.runJobs();
        await log.read();
        await this.rules.settled();
      }
      const bug = app.logLines.splice(0).find((line) => /"level":"?(error|fatal|50|60)/.test(line));
      if (bug !== undefined) throw new Violation(`an unexpected error: ${bug}`);
    }
  }

  private get person(): Person {
    return pick(this.world.people, this.by[0]);
  }
  private get other(): Person {
    return pick(
      this.world.people.filter((one) => one !== this.person),
      this.by[1],
    );
  }
  private get customer(): Customer {
    return pick(this.world.customers, this.by[1]);
  }
  /** Of the person's own organization, mostly. */
  private get upstream(): Upstream {
    const own = this.world.upstreams.filter(
      ({ customer }) => customer !== null && this.person.address.endsWith(customer.domain),
    );
    return pick((this.by[1] ?? 0) % 3 === 0 || own.length === 0 ? this.world.upstreams : own, (this.by[1] ?? 0) >> 2);
  }
  private get flow(): Flow | undefined {
    return this.person.flows.at((this.by[3] ?? 0) % 5 === 0 ? -2 : -1) ?? this.person.flows.at(-1);
  }

  private authorize(): Promise<Done> {
    const [, , to, how] = this.by;
    return this.pages.authorize(this.person, {
      organization: pick([undefined, undefined, this.customer.id, this.customer.slug], to),
      connection: pick([undefined, undefined, undefined, this.upstream.connection.id], how),
      prompt: pick([undefined, undefined, 'none', 'login', undefined, 'none'], (how ?? 0) >> 2),
      scope: pick(['openid offline_access', 'openid offline_access', 'openid organizations'], (to ?? 0) >> 2),
    });
  }

  private async open(): Promise<Flow | undefined> {
    if (this.flow === undefined) await this.pages.authorize(this.person, { prompt: 'login', scope: 'openid' });
    return this.flow;
  }

  private async connect(): Promise<Done> {
    const flow = await this.open();
    if (flow === undefined) return { outcome: 'no page', reach: { kind: 'browser', person: this.person } };
    const chosen = pick(deviations, this.by[2]);
    // A SAML provider is reached by the browser alone.
    const how = chosen === 'unreachable' && this.upstream.oidc === null ? 'honest' : chosen;
    const done = await this.pages.connect(this.person, flow, this.upstream, how, this.other);
    return { ...done, outcome: `${how}: ${done.outcome}` };
  }

  /** Of a person whose provider has answered for an account that is not proved, mostly. */
  private async mail(): Promise<Done> {
    const waiting = this.world.people.findIndex(({ flows }) => flows.at(-1)?.accepted !== undefined);
    if (waiting >= 0 && (this.by[1] ?? 0) % 4 > 0) this.by = [waiting, ...this.by.slice(1)];
    const flow = await this.open();
    if (flow === undefined) return { outcome: 'no page', reach: { kind: 'browser', person: this.person } };
    const isOwn = (this.by[2] ?? 0) % 5 > 0;
    const done = await this.pages.mail(this.person, flow, (isOwn ? this.person : this.other).address);
    return { ...done, outcome: `mail of ${isOwn ? 'their own' : 'a victim'}: ${done.outcome}` };
  }

  /** The newest one, mostly. */
  private taken(holds: (held: Held) => boolean): Held | undefined {
    const all = this.world.held.filter(holds);
    return (this.by[0] ?? 0) % 3 === 0 ? all[(this.by[1] ?? 0) % Math.max(1, all.length)] : all.at(-1);
  }

  private async redeem(): Promise<Done> {
    const held = this.taken(({ code }) => code !== undefined);
    if (!held?.code) return { outcome: 'no code', reach: { kind: 'nothing' } };
    const { machine } = this.world;
    const tokens = await answerOf(await held.by.party.exchange(held.code, { client_id: undefined }, basic(machine)));
    if (!tokens['error'] || (this.by[2] ?? 0) % 3 > 0) delete held.code;
    return { outcome: `redeem ${await this.given(tokens, held)}`, reach: { kind: 'tokens', by: held.by } };
  }

  private async refresh(): Promise<Done> {
    const held = this.taken(({ refresh }) => refresh !== undefined);
    if (!held?.refresh) return { outcome: 'no refresh token', reach: { kind: 'nothing' } };
    const to = pick([undefined, undefined, this.customer], this.by[2]);
    const form = { grant_type: 'refresh_token', refresh_token: held.refresh, ...(to && { organization: to.slug }) };
    const tokens = await answerOf(await send(this.world.machine, '/oauth2/token', form));
    if (!tokens['error']) delete held.refresh;
    const given = await this.given(tokens, { ...held, organizationId: to ? to.id : held.organizationId });
    return { outcome: `${to ? 'move' : 'refresh'} ${given}`, reach: { kind: 'tokens', by: held.by } };
  }

  /** Invariant 1: tokens are of the same user, and of an organization only while they are its member. */
  private async given(tokens: Record<string, string>, { by, organizationId, userId }: Held): Promise<string> {
    if (tokens['error'] !== undefined) return tokens['error'];
    const claims = decodeJwt(tokens['id_token'] ?? '');
    if (claims.sub !== userId) throw new Violation('1: tokens of another user');
    if ((claims['org_id'] ?? null) !== organizationId) throw new Violation('1: tokens of another organization');
    await this.isMember(userId, organizationId, 'tokens');
    const { access_token: access = '', refresh_token: refresh } = tokens;
    this.world.held.push({ userId, organizationId, by, access, ...(refresh !== undefined && { refresh }) });
    return organizationId === null ? 'tokens' : 'tokens of an organization';
  }

  private async isMember(userId: string, organizationId: string | null, what: string): Promise<void> {
    const [user] = await this.world.rows<{ active: boolean }>(
      'select active from users where project_id = ? and id = ?',
      [userId],
    );
    if (!user?.active) throw new Violation(`1: ${what} of a deactivated user`);
    if (organizationId === null) return;
    const place = await this.world.placeOf(organizationId, userId, null);
    const isMember =
      place?.['membership'] === 'active' && place['state'] === 'active' && place['organizations_enabled'];
    if (!isMember) throw new Violation(`1: ${what} of an organization whose member they are not`);
  }

  private async use(): Promise<Done> {
    const held = this.taken(({ access }) => access !== undefined);
    if (!held?.access) return { outcome: 'no token', reach: { kind: 'nothing' } };
    const { machine } = this.world;
    const state = await answerOf(await send(machine, '/oauth2/introspect', { token: held.access }));
    const info = await held.by.party.userInfo(held.access);
    const isActive = Boolean(state['active']);
    if (isActive !== (info.status === 200))
      throw new Violation(`1: introspection says ${state['active']}, UserInfo ${info.status}`);
    if (isActive) {
      await this.isMember(held.userId, held.organizationId, 'a live token');
      const claims = await answerOf(info);
      if ((claims['org_id'] ?? null) !== held.organizationId)
        throw new Violation('1: UserInfo of another organization');
    } else delete held.access;
    return {
      outcome: `use ${isActive ? (held.organizationId === null ? 'live' : 'live in one') : 'ended'}`,
      reach: { kind: 'tokens', by: held.by },
    };
  }

  private scim(): Promise<Done> {
    const [, , what, at] = this.by;
    const address = pick([this.person.address, `new${(at ?? 0) % 3}@${this.customer.domain}`, this.person.address], at);
    switch ((what ?? 0) % 9) {
      case 0:
      case 1:
        return this.directory.provision(this.customer, address, pick(['', '.person'], at));
      case 2:
        return this.directory.list(this.customer, pick(['', address], at));
      default: {
        const of = (what ?? 0) % 4 === 0 ? pick(this.world.customers, this.by[0]) : this.customer;
        const change = pick(['off', 'on', 'off', 'on', 'delete', 'move', 'read'] as const, at);
        return this.directory.change(this.customer, of, this.by[0] ?? 0, change, address);
      }
    }
  }

  private async portal(): Promise<Done> {
    const [, , what, at] = this.by;
    if (this.customer.links.length === 0 || (what ?? 0) % 4 === 0) {
      if (this.customer.isDeleted) return { outcome: 'none', reach: { kind: 'nothing' } };
      return this.directory.link(
        this.customer,
        pick([['domains'], ['connection'], ['domains', 'connection']] as const, at).slice() as never,
      );
    }
    const [foreign] = await this.world.rows<{ id: string }>(
      'select id from organization_domains where project_id = ? order by id limit 1',
    );
    const changes = ['add-domain', 'create-connection', 'remove-domain', 'remove-connection', 'check-domain'];
    return this.directory.setUp(this.customer, at ?? 0, pick(changes, what), foreign?.id ?? '');
  }

  private administer(): Promise<Done> {
    const [, , what, at] = this.by;
    const isOn = (at ?? 0) % 2 === 0;
    const { admin, customer, person, upstream } = this;
    const moves: (() => Promise<Done>)[] = [
      () => admin.member(customer, person.address, 'give'),
      () => admin.member(customer, person.address, 'give'),
      () => admin.member(customer, person.address, pick(['end', 'suspended', 'active', 'active'] as const, at)),
      () => admin.organization(customer, { state: pick(['active', 'suspended', 'active'] as const, at) }, 'state'),
      () => admin.organization(customer, { signIn: isOn ? 'any' : 'connection' }, 'sign-in'),
      () => admin.organization(customer, { mfaPolicy: pick([null, 'required', null] as const, at) }, 'factors'),
      () => admin.organization(customer, { maxSessionSeconds: pick([null, 600] as const, at) }, 'longest session'),
      () =>
        admin.organization(
          customer,
          { joinByDomain: pick(['off', 'on', 'ask'] as const, at), fallback: isOn },
          'joining',
        ),
      () => admin.domain(customer),
      () => admin.connection(upstream, pick(['disabled', 'enabled', 'enabled', 'jit', 'settings'] as const, at), isOn),
      () => admin.account(person.address, (at ?? 0) % 8 === 0),
      () => admin.project({ organizationsEnabled: (at ?? 0) % 4 > 0 }),
      () => admin.client((at ?? 0) % 3 === 0),
      () => admin.revokeLink(customer, at ?? 0),
      () =>
        (at ?? 0) % 6 === 0
          ? admin.remove(customer, isOn ? 'erase' : 'move')
          : admin.project({ organizationsEnabled: true }),
    ];
    return pick(moves, what)();
  }
}
