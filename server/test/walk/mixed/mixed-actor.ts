import { system } from '../../../src/domain/kernel/actor.ts';
import { TestBackEnd } from '../../back-end.ts';
import { absorb, anyEnd } from '../absorb.ts';
import { Restorable } from '../checkpoint.ts';
import type { Mix } from '../commands.ts';
import { Authenticator } from '../passkeys.ts';
import { send } from '../wire.ts';
import type { World } from '../world.ts';
import { addressFlows } from './address-flows.ts';
import { adminFlows } from './admin-flows.ts';
import { delegationFlows, sendSealed } from './delegation-flows.ts';
import type { Action, Draft, MixedClient, Site } from './draft.ts';
import { MixedAdmin } from './mixed-admin.ts';
import { oidcFlows } from './oidc-flows.ts';
import { pageFlows } from './page-flows.ts';
import { Dice, otherMailbox, Party, Values } from './party.ts';
import { Rules } from './rules.ts';
import { bodyOf, signinFlows } from './signin-flows.ts';
import { type Sending, steer } from './steering.ts';
import { Themes } from './themes.ts';

/**
 * Two users of a third project, and a visitor without an account. Each user follows every flow; {@link steer} mixes values
 * that any of them has seen into their requests.
 */
export class MixedActor extends Restorable {
  private readonly values = new Values();
  private readonly clients: MixedClient[] = [];
  private parties: Party[] = [];
  private visitor!: Party;
  private site!: Site;
  private rules!: Rules;
  private admin!: MixedAdmin;
  private themes!: Themes;
  private actions: Record<string, Action> = {};

  constructor(
    private readonly world: World,
    private readonly log: (line: string) => void,
  ) {
    super();
  }

  async act({ app, party: index, seed }: Mix): Promise<void> {
    const { world } = this;
    const dice = new Dice(seed);
    if (this.parties.length === 0) await this.seed(dice);
    const author = this.parties[index] as Party;
    if (dice.next() < 0.04) return this.admin.act(app, author, dice);
    if (await this.themes.act(app, author, dice)) return;
    if (author.mustWait) world.processes.clock.turn(31);
    author.mustWait = false;
    if (author.isRevoked) await author.renewKey();
    const follows = dice.next() < (this.themes.isShort ? 0.97 : 0.9);
    const some = dice.next() < 0.5 ? beginnings : Object.keys(this.actions);
    const name = follows ? author.next : (dice.of(some) as string);
    const draft = (await this.actions[name]?.(author, dice)) as Draft;
    const others = [...this.parties.filter((one) => one !== author), this.visitor];
    const sending = steer(name, draft, author, others, this.values, dice, this.themes.isShort);
    const { by, fields, deviation } = sending;
    this.visitor.renewBrowser();
    const reply = await world.exchange(
      () => this.post(app, draft, sending),
      (answer, changes) => {
        const { error, status } = answer.json;
        const outcome = [answer.status, error?.code ?? error ?? status ?? '', answer.location?.pathname ?? ''];
        const how = deviation === null ? '' : ` ${deviation}`;
        this.log(`${author.name} ${name}${how} {${this.shown(fields)}}: ${outcome.join(' ')}`);
        this.rules.check({ party: by, name, isForm: draft.as === 'page', fields, reply: answer, changes });
        absorb(world.model, changes, { mayEnd: anyEnd });
        if (by === author && typeof answer.json['nonce'] === 'string') author.nonce = answer.json['nonce'];
        author.mustWait = answer.status === 429 || answer.status === 503;
        author.isRevoked = error?.code === 'DEVICE_REVOKED';
        const isAccepted = answer.status < 400 && answer.location?.searchParams.get('error') == null;
        if (isAccepted || (deviation === null && name === 'verify-mfa')) this.spend(draft, fields);
        if (isAccepted && name === 'authenticate') this.asked(by, fields);
        const learned = isAccepted ? draft.learn(by, answer, fields) : undefined;
        const next = this.themes.isEnd(draft) ? 'authorize' : learned;
        // After a refused deviation, the honest request may follow.
        const goesOn = by === author ? follows && (isAccepted || deviation === null) : by.next === 'authorize';
        if (goesOn) by.next = next ?? 'authorize';
        return answer;
      },
    );
    by.browser.jar.keep(reply);
    await this.deliver();
  }

  private async seed(dice: Dice): Promise<void> {
    const { world, clients, values } = this;
    const { make } = world.processes.apps[0];
    const passkeys = { passkeyPolicy: 'preferred' as const };
    const project = await make.project({ name: 'Third', mfaPolicy: 'optional', signUp: 'open', ...passkeys });
    const grantTypes = ['refresh_token' as const, 'device_code' as const];
    for (const [place, { isThirdParty, isDpopBound }] of kindsOfClients.entries()) {
      const redirect = `https://third.example.com/callback${place}`;
      const logoutUri = `https://third.example.com/logout${place}`;
      const { client } = await make.client(project, {
        ...{ name: `Third ${place}`, redirectUris: [redirect], grantTypes, backchannelLogoutUri: logoutUri },
        ...{ thirdParty: isThirdParty, dpopRequired: isDpopBound },
      });
      clients.push({ id: client.id, redirect, logoutUri, isThirdParty, isDpopBound });
    }
    const by = { projectId: project.id, name: 'Directory' };
    const { token: scimToken } = await world.services.directories.issueScimToken(by, system);
    const keep: Site['keep'] = (party, some, belongs) => {
      for (const [kind, text] of Object.entries(some)) values.keep(party, kind, text, world.model.step, belongs);
    };
    const page = (party: Party, path: string) => this.page(party, path);
    const { id, slug } = project;
    const backEnds = new Map<string, TestBackEnd>();
    const foreign = await make.project({ name: 'Fourth' });
    for (const owner of [project, project, foreign]) {
      const backEnd = await TestBackEnd.of(world.processes.apps[0], owner);
      backEnds.set(backEnd.client.id, backEnd);
    }
    const { console } = world;
    const known = { clients, backEnds, sealed: new Map(), values, keys: new Map() };
    this.site = { world, project: { id, slug, scimToken }, console, ...known, keep, page };
    const serial = String(world.model.step + world.model.users.size * 1000) + world.addresses[0]?.replace(/\D/g, '');
    const ip = (place: number) => world.browsers[0]?.ip.replace(/\.\d+$/, `.${10 + place}`) ?? '';
    for (const [place, name] of ['mallory', 'mona'].entries()) {
      const party = await Party.of(name, `${name}${serial}@example.com`, 3 + place, ip(place));
      const { address, dpop } = party;
      const emails = [{ value: address, type: 'work', primary: true }];
      const login = { userName: address, userNameKey: address, email: address, emailKey: address };
      const user = await make.user(project, { ...login, phone: null, attributes: { emails, phoneNumbers: [] } });
      party.user = user.id;
      party.turn = Math.floor(dice.next() * 100);
      this.site.keys.set(dpop.jkt, dpop);
      keep(party, { user: user.id, address, dpop: dpop.jkt });
      for (const mailbox of [address, otherMailbox(address)]) keep(party, { mailbox });
      this.parties.push(party);
    }
    this.visitor = await Party.of('visitor', `visitor${serial}@example.com`, 5, ip(2));
    const first = this.parties[0] as Party;
    for (const client of clients) keep(first, { client: client.id, redirect: client.redirect });
    for (const backEnd of backEnds.keys()) keep(first, { 'back-end': backEnd }, { 'back-end': backEnd });
    await world.services.projects.update(project.id, { deviceTrustSeconds: 30 * 86_400 }, system);
    absorb(world.model, await world.processes.log.read());
    const authenticators = new Map(this.parties.map((party) => [party, new Authenticator(true)]));
    const none = new Authenticator(true);
    this.rules = new Rules(this.site, this.parties);
    this.admin = new MixedAdmin(this.site, this.parties, this.rules, this.log);
    this.themes = new Themes(world.model, this.admin, this.rules, dice);
    this.actions = {
      ...{ ...oidcFlows(this.site), ...pageFlows(this.site), ...delegationFlows(this.site), ...adminFlows(this.site) },
      ...addressFlows(this.site),
      ...signinFlows(this.site, (party) => authenticators.get(party) ?? none),
    };
  }

  private async post(app: number, draft: Draft, { by, fields, forges }: Sending) {
    const url = `${this.world.process(app)}${draft.path}`;
    if (draft.as === 'sealed') return sendSealed(this.site, url, fields);
    const sent = Object.entries(fields).filter(([name]) => !name.startsWith('@'));
    const query = new URLSearchParams(sent).toString();
    const browser = forges === undefined ? by.browser : by.browser.forging(forges.browser);
    const headers = { ...browser.headers, ...draft.headers?.(fields) };
    if (draft.as === 'query') return send(draft.method, query ? `${url}?${query}` : url, headers);
    const isJson = draft.as === 'json';
    const type = isJson ? 'application/json' : 'application/x-www-form-urlencoded';
    const origin: Record<string, string> = draft.as === 'form' ? {} : { Origin: this.world.issuer };
    return send(draft.method, url, { ...headers, 'Content-Type': type, ...origin }, isJson ? bodyOf(fields) : query);
  }

  /** Marks the values that an accepted request has used. */
  private spend({ fields: kinds }: Draft, fields: Record<string, string>): void {
    for (const [name, [kind]] of Object.entries(kinds)) {
      const seen = this.values.of(kind, fields[name]);
      if (
        seen &&
        !/^(client|back-end|setup-link|address|mailbox|flow|txn|dpop|csrf|access|refresh|user|redirect)$/.test(kind)
      )
        seen.isSpent = true;
    }
  }

  private async page(party: Party, path: string): Promise<string> {
    const reply = await party.browser.get(`${this.world.process(0)}${path}`);
    const changes = await this.world.processes.log.read();
    this.rules.check({ party, name: `GET ${path}`, isForm: false, fields: { path }, reply, changes });
    absorb(this.world.model, changes);
    return reply.text;
  }

  /** The sign-in that last asked for a code, by address. */
  private readonly askers = new Map<string, { by: string; txn: string }>();

  private asked(by: Party, { userid = '', txn = '' }: Record<string, string>): void {
    this.askers.set(userid, { by: by.name, txn });
  }

  private async deliver(): Promise<void> {
    await this.world.deliver();
    for (const { messageId, to, text } of this.world.inbox.splice(0)) {
      const code = /\b(\d{6}|[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5})\b/.exec(text)?.[1];
      const mover = this.rules.addresses.askerOf(messageId, to);
      const party = this.parties.find(({ address }) => [address, mover && otherMailbox(address)].includes(to));
      if (code === undefined || !party) continue;
      const asker = this.askers.get(to);
      if (mover) this.site.keep(party, { 'email-code': code }, { 'asked by': mover.name, message: messageId });
      else this.site.keep(party, { otp: code }, { 'asked by': asker?.by, txn: asker?.txn });
    }
    this.admin.checkLogouts();
  }

  private shown(fields: Record<string, string>): string {
    const all = [...this.values.all.values()];
    const nameOf = (value: string) => {
      const seen = all.find(({ text }) => text === value);
      return seen ? `${seen.of.name}'s ${seen.kind} of ${seen.step}` : value.slice(0, 30);
    };
    return Object.entries(fields)
      .map(([key, value]) => `${key}=${nameOf(value)}`)
      .join(', ');
  }
}

/** Begun during other flows, as in another tab. */
const beginnings = ['authorize', 'challenge', 'authenticate', 'device-begin', 'par', 'end-session'];

/** An application of the project's owner, one of another company, and one whose tokens are bound to keys. */
const kindsOfClients = [
  { isThirdParty: false, isDpopBound: false },
  { isThirdParty: true, isDpopBound: false },
  { isThirdParty: true, isDpopBound: true },
];
