/**
 * Random walk over memberships, organizations, sign-ins and tokens, in random order: a code or token of a context exists only while its user
 * is an active member of the active organization, in a project that has organizations (invariant 1 of decisions/0384).
 */
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { basic, type Machine, send } from '../../test/machine.ts';
import { answerOf, type Place, Places } from '../../test/organizations.ts';
import { partyAt } from '../../test/project-issuer.ts';
import type { RelyingParty } from '../../test/relying-party.ts';
import { changed } from '../../test/rows.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';
import { valuesOf } from '../domain/users/user-record.ts';

/** As in the walk through all ways to sign in (decisions/0067). */
const seed = Number(process.env['LATCHKEY_WALK_SEED'] ?? 1);
const steps = Number(process.env['LATCHKEY_WALK_STEPS'] ?? 400);

let app: TestApp;
beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());

/** Numbers from 0 to 1 (mulberry32). */
function randomOf(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** A code, or tokens, as the server gave it. */
interface Given {
  place: number | null;
  /** Of a code, which is valid for 60 seconds. */
  until?: Date;
  code?: string;
  access?: string;
  refresh?: string;
}

class Walk {
  readonly random = randomOf(seed);
  project!: Project;
  places!: Places;
  party!: RelyingParty;
  machine!: Machine;
  user!: User;
  all: Place[] = [];
  /** What is true, by organization. */
  member = ['none', 'none', 'none'] as ('none' | 'active' | 'suspended')[];
  open = [true, true, true];
  enabled = true;
  required = false;
  active = true;
  given: Given[] = [];
  /** Outcomes, by kind: what the walk has reached. */
  readonly reached = new Map<string, number>();

  async begin(): Promise<void> {
    this.project = await app.make.project({ name: 'Acme' });
    await app.services.projects.update(this.project.id, { organizationsEnabled: true }, system);
    this.places = new Places(app, this.project);
    const settings = { tokenEndpointAuthMethod: 'client_secret_basic', grantTypes: ['refresh_token'] } as const;
    const { client, clientSecret } = await app.make.client(this.project, {
      ...settings,
      grantTypes: ['refresh_token'],
    });
    this.party = partyAt(app, this.project, client);
    this.machine = { app, client, secret: clientSecret ?? '', issuer: this.party.issuer };
    this.user = await app.make.user(this.project);
    for (const slug of ['a', 'b', 'c']) this.all.push(await this.places.organization(slug));
    await this.party.signIn(this.user);
  }

  pick<T>(of: readonly T[]): T {
    return of[Math.floor(this.random() * of.length)] as T;
  }

  count(kind: string): void {
    this.reached.set(kind, (this.reached.get(kind) ?? 0) + 1);
  }

  isIn(place: number): boolean {
    return this.active && this.enabled && this.open[place] === true && this.member[place] === 'active';
  }

  /** Whether a code or token of this context may be used now. */
  isLive({ place }: Given): boolean {
    return place === null ? this.active && !this.required : this.isIn(place);
  }

  placeOf(claims: Record<string, unknown>): number | null {
    const at = this.all.findIndex(({ id }) => id === claims['org_id']);
    return at < 0 ? null : at;
  }

  readonly moves: (() => Promise<void>)[] = [
    () => this.change(),
    () => this.change(),
    () => this.change(),
    () => this.authorize(),
    () => this.authorize(),
    () => this.redeem(),
    () => this.redeem(),
    () => this.refresh(),
    () => this.refresh(),
    () => this.use(),
    () => this.use(),
  ];

  private async change(): Promise<void> {
    const at = this.pick([0, 1, 2]);
    const place = this.all[at] as Place;
    const set = (text: string, ...values: unknown[]) => changed(app.services.db, text, values);
    const of = [this.project.id, place.id, this.user.id];
    switch (this.pick(['join', 'join', 'leave', 'suspend', 'state', 'state', 'enabled', 'required', 'active'])) {
      case 'join':
        if (this.member[at] === 'none') await this.places.join(place, this.user);
        else
          await set(
            "update organization_memberships set state = 'active' where project_id = ? and organization_id = ? and user_id = ?",
            ...of,
          );
        this.member[at] = 'active';
        break;
      case 'leave':
        await set(
          'delete from organization_memberships where project_id = ? and organization_id = ? and user_id = ?',
          ...of,
        );
        this.member[at] = 'none';
        break;
      case 'suspend':
        if (this.member[at] !== 'none') this.member[at] = 'suspended';
        await set(
          "update organization_memberships set state = 'suspended' where project_id = ? and organization_id = ? and user_id = ?",
          ...of,
        );
        break;
      case 'state':
        this.open[at] = !this.open[at];
        await this.places.set(place, 'state', this.open[at] ? 'active' : 'suspended');
        break;
      case 'enabled':
        this.enabled = this.random() < 0.8;
        await app.services.projects.update(this.project.id, { organizationsEnabled: this.enabled }, system);
        break;
      case 'required':
        this.required = this.random() < 0.3;
        await app.services.clients.update(this.machine.client, { organizationRequired: this.required }, system);
        break;
      default: {
        const active = this.random() < 0.8;
        if (active !== this.active) {
          const { id } = this.user;
          await app.services.accounts.change(this.project.id, id, (now) => ({ ...valuesOf(now), active }), system);
          // A deactivation ends what was given.
          if (!active) this.given = [];
        }
        this.active = active;
        if (active) await this.party.signIn(this.user);
      }
    }
  }

  private async authorize(): Promise<void> {
    const at = this.pick([null, 0, 1, 2]);
    const organization = at === null ? undefined : this.pick([this.all[at]?.id, this.all[at]?.slug]);
    const scope = this.pick(['openid', 'openid offline_access', 'openid organizations']);
    const answer = await this.party.answer({ organization, scope, prompt: 'none' });
    const code = answer.get('code');
    const mine = [0, 1, 2].filter((place) => this.isIn(place));
    const expected = () => {
      if (at !== null) return this.isIn(at);
      return this.active && (mine.length === 1 || (mine.length === 0 && !this.required));
    };
    expect([organization, mine, answer.get('error'), code !== null]).toEqual([
      organization,
      mine,
      answer.get('error'),
      expected(),
    ]);
    this.count(`authorize ${answer.get('error') ?? (at === null ? 'any' : 'named')}`);
    if (code !== null) {
      const until = new Date(app.clock.now().getTime() + 50_000);
      this.given.push({ code, until, place: at ?? mine[0] ?? null });
    }
  }

  private async redeem(): Promise<void> {
    const now = app.clock.now();
    this.given = this.given.filter(({ until }) => until === undefined || until > now);
    const at = this.given.findLastIndex(({ code }) => code !== undefined);
    const one = this.given[at];
    if (!one?.code) return;
    this.given.splice(at, 1);
    const tokens = await answerOf(await this.party.exchange(one.code, { client_id: undefined }, basic(this.machine)));
    this.check('redeem', tokens, this.isLive(one), one.place);
  }

  private async refresh(): Promise<void> {
    const index = this.given.findLastIndex((given) => given.refresh !== undefined);
    const one = this.given[index];
    if (!one?.refresh) return;
    const to = this.pick([null, null, 0, 1, 2]);
    const form = { grant_type: 'refresh_token', refresh_token: one.refresh };
    const organization = to === null ? undefined : this.all[to]?.slug;
    const answer = await send(this.machine, '/oauth2/token', { ...form, ...(organization && { organization }) });
    const expected = to === null ? this.isLive(one) : this.isIn(to);
    if (expected) this.given.splice(index, 1);
    this.check(to === null ? 'refresh' : 'move', await answerOf(answer), expected, to ?? one.place);
  }

  private check(kind: string, tokens: Record<string, string>, expected: boolean, place: number | null): void {
    expect([kind, tokens['error'] ?? 'tokens']).toEqual([kind, expected ? 'tokens' : 'invalid_grant']);
    this.count(`${kind} ${expected ? (place === null ? 'in none' : 'in one') : 'refused'}`);
    if (!expected) return;
    expect(this.placeOf(decodeJwt(tokens['id_token'] ?? ''))).toBe(place);
    const { access_token: access = '', refresh_token: refresh } = tokens;
    this.given.push({ place, access, ...(refresh !== undefined && { refresh }) });
  }

  private async use(): Promise<void> {
    const one = this.given.findLast(({ access }) => access !== undefined);
    if (one?.access === undefined) return;
    const response = await this.party.userInfo(one.access);
    const isLive = this.isLive(one);
    expect(response.status).toBe(isLive ? 200 : 401);
    if (isLive) expect(this.placeOf(await answerOf(response))).toBe(one.place);
    const state = await answerOf(await send(this.machine, '/oauth2/introspect', { token: one.access }));
    expect(state['active']).toBe(isLive);
    this.count(`use ${isLive ? (one.place === null ? 'in none' : 'in one') : 'refused'}`);
  }
}

it('holds over a random walk', { timeout: 600_000 + steps * 200 }, async () => {
  const walk = new Walk();
  await walk.begin();
  for (let step = 0; step < steps; step += 1) {
    app.clock.turn(1);
    await walk.pick(walk.moves)();
  }
  // The walk reached every kind of outcome.
  for (const kind of ['authorize any', 'authorize named', 'authorize access_denied', 'authorize invalid_request']) {
    expect([kind, walk.reached.get(kind) ?? 0]).not.toEqual([kind, 0]);
  }
  for (const kind of ['redeem', 'refresh', 'use']) {
    for (const result of ['in one', 'refused'])
      expect([kind, result, walk.reached.get(`${kind} ${result}`) ?? 0]).not.toEqual([kind, result, 0]);
  }
});
