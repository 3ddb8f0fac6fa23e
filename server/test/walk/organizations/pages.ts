/** Steps of people in their browsers: authorization requests, providers, mail codes. */

import { generateSync } from 'otplib';
import { nameIdFormats } from '../../../src/domain/saml/names.ts';
import { locationOf } from '../../browser.ts';
import { fetchHere } from '../../fetch-here.ts';
import { rsaKey } from '../../saml.ts';
import type { SamlForm } from '../../saml-provider.ts';
import { newDeviceKey, SigninPage, type StepAnswer } from '../../signin-browser.ts';
import type { Customers, Flow, Person, Upstream, Word } from './customers.ts';
import type { Reach } from './rules.ts';

/** What a step did, and what it may have changed. */
export interface Done {
  outcome: string;
  reach: Reach;
}

const attacker = rsaKey();

/** How a provider, or a browser on the way back from it, deviates. */
export const deviations = [
  ...['honest', 'honest', 'honest', 'another subject', 'the address of a victim', 'a changed address', 'compromised'],
  ...['forged', 'replayed', 'another browser', 'another connection', 'another request', 'unreachable'],
] as const;
type Deviation = (typeof deviations)[number];

/** Those that leave a protocol's answer valid: the provider itself lies. */
const valid: readonly Deviation[] = [
  'honest',
  'another subject',
  'the address of a victim',
  'a changed address',
  'compromised',
];

export class Pages {
  constructor(private readonly world: Customers) {}

  /** An authorization request of the application. */
  async authorize(
    person: Person,
    asked: {
      organization?: string | undefined;
      connection?: string | undefined;
      prompt?: string | undefined;
      scope: string;
    },
  ): Promise<Done> {
    const reach: Reach = { kind: 'browser', person };
    const response = await person.party.authorize(asked);
    if (response.status !== 303) return { outcome: String(response.status), reach };
    return { outcome: await this.followed(person, locationOf(response)), reach };
  }

  /** Where a redirect leads: to the application, the sign-in page, a provider, or the choice of an organization. */
  private async followed(person: Person, to: URL): Promise<string> {
    const code = to.searchParams.get('code');
    if (code !== null && to.origin !== new URL(this.world.app.url).origin) {
      await this.holds(person, code);
      return 'code';
    }
    const error = to.searchParams.get('error');
    if (error !== null) return error;
    const flow = to.searchParams.get('flow');
    if (to.pathname.endsWith('/organization')) return this.choose(person, to);
    if (flow !== null && !person.flows.some(({ id }) => id === flow)) {
      person.flows = [...person.flows.slice(-2), { id: flow, connected: new Set() }];
    }
    return to.pathname.startsWith('/connect/') ? 'connect' : (to.pathname.split('/').at(-1) ?? '');
  }

  private async holds(by: Person, code: string): Promise<void> {
    const [row] = await this.world.rows<{ user: string; organization: string | null }>(
      `select user_id as "user", organization_id as organization from authorization_codes
        where project_id = ? and grant_id is null order by created_at desc, id desc limit 1`,
    );
    if (row) this.world.held.push({ by, code, userId: row.user, organizationId: row.organization });
  }

  private async choose(person: Person, to: URL): Promise<string> {
    const { browser } = person.party;
    const html = await (await browser.get(to.href)).text();
    const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
    const action = new URL(/action="([^"]+)"/.exec(html)?.[1] ?? '', this.world.app.url).href;
    // Any of the organizations, offered or not.
    const { id = '' } = this.world.customers[html.length % this.world.customers.length] ?? {};
    const stored = await browser.post(action, { flow: field('flow'), csrf: field('csrf'), organization: id });
    if (stored.status !== 303) return `choice ${stored.status}`;
    const next = await browser.get(locationOf(stored).href);
    if (next.status !== 303) return `choice ${next.status}`;
    const end = locationOf(next);
    return end.pathname.endsWith('/organization') ? 'no choice' : `choice ${await this.followed(person, end)}`;
  }

  /** From a sign-in page to a provider and back, with a deviation. */
  async connect(person: Person, flow: Flow, upstream: Upstream, how: Deviation, other: Person): Promise<Done> {
    const { world } = this;
    const { connection } = upstream;
    const { browser } = person.party;
    const nothing: Done = { outcome: '', reach: { kind: 'nothing' } };
    const word = this.wordOf(person, upstream, how, other);
    if (how === 'replayed') {
      if (!flow.callback) return { ...nothing, outcome: 'none' };
      const again = await browser.get(flow.callback.at);
      return { ...nothing, outcome: again.status === 303 ? locationOf(again).pathname : String(again.status) };
    }
    world.speak(upstream, word);
    this.lie(upstream, how);
    try {
      const start = await browser.get(`${world.app.url}/connect/${connection.id}/start?flow=${flow.id}`);
      const to = start.status === 303 ? locationOf(start) : null;
      if (to === null) return { ...nothing, outcome: this.closed(person, flow) };
      if (to.origin === new URL(world.app.url).origin)
        return { ...nothing, outcome: `not started ${to.searchParams.get('connect')}` };
      const back = await this.back(upstream, to, how);
      if (back === null) return { ...nothing, outcome: 'not delivered' };
      const at = new URL(back);
      if (how === 'another connection') {
        const wrong = world.upstreams.find((one) => one !== upstream)?.connection.id ?? '';
        at.pathname = at.pathname.replace(connection.id, wrong);
      }
      if (how === 'another request') at.searchParams.set('state', `${at.searchParams.get('state')}x`);
      // In another browser the request stays unused.
      if (how !== 'another browser') flow.callback = { at: at.href, word };
      const here = how === 'another browser' ? other.party.browser : browser;
      const answer = await here.get(at.href);
      if (answer.status !== 303) return { ...nothing, outcome: String(answer.status) };
      return await this.arrived(person, flow, word, how, locationOf(answer));
    } finally {
      if (upstream.oidc) upstream.oidc.lies = {};
      else world.stage.saml.lies = {};
    }
  }

  private async arrived(person: Person, flow: Flow, word: Word, how: Deviation, to: URL): Promise<Done> {
    const state = to.searchParams.get('connect');
    if (!valid.includes(how)) {
      if (how === 'unreachable') flow.failed = word.connection.organizationId ?? undefined;
      return { outcome: state ?? to.pathname, reach: { kind: 'nothing' } };
    }
    const reach: Reach = { kind: 'browser', person, flow, word };
    if (state !== null) return { outcome: state, reach };
    flow.accepted = word;
    if (to.pathname === '/signin') return { outcome: 'proof', reach };
    if (word.connection.organizationId != null) flow.connected.add(word.connection.organizationId);
    return { outcome: `signed in ${await this.resumed(person, to)}`, reach };
  }

  private async resumed(person: Person, to: URL): Promise<string> {
    const end = await person.party.browser.get(to.href);
    return end.status === 303 ? this.followed(person, locationOf(end)) : String(end.status);
  }

  private wordOf(person: Person, { connection, customer, oidc }: Upstream, how: Deviation, other: Person): Word {
    const at = customer?.slug ?? 'p';
    const of = (account: string, { address: email }: Person): Word => {
      return { connection, subject: oidc ? account : `${nameIdFormats.persistent} ${account}`, email };
    };
    if (how === 'another subject') return of(`${person.name}2@${at}`, person);
    if (how === 'the address of a victim') return of(`${person.name}-${other.name}@${at}`, other);
    if (how === 'a changed address') return of(`${person.name}@${at}`, other);
    if (how === 'compromised') return of(`${other.name}@${at}`, other);
    return of(`${person.name}@${at}`, person);
  }

  private lie({ oidc }: Upstream, how: Deviation): void {
    if (oidc) {
      if (how === 'forged') oidc.lies = { claims: { nonce: 'of another request' } };
      if (how === 'unreachable') oidc.lies = { at: { '/token': (req) => req.socket.destroy() } };
    } else if (how === 'forged') this.world.stage.saml.lies = { key: attacker };
    else if (how === 'another request') this.world.stage.saml.lies = { envelope: { inResponseTo: '_another' } };
  }

  /** The callback with the answer of the provider, without the cookies of a browser; null: refused before. */
  private async back({ oidc }: Upstream, to: URL, how: Deviation): Promise<string | null> {
    if (oidc) return oidc.agree(to).href;
    const { action, fields } = await this.world.stage.saml.agree(to);
    const wrong = this.world.upstreams.find(({ oidc: other }) => other !== null)?.connection.id ?? '';
    const url = how === 'another connection' ? action.replace(/connect\/[^/]+/, `connect/${wrong}`) : action;
    const delivered = await fetchHere(url, {
      method: 'POST',
      body: new URLSearchParams(fields as SamlForm['fields'] & Record<string, string>),
      redirect: 'manual',
    });
    return delivered.status === 303 ? locationOf(delivered).href : null;
  }

  /** A sign-in by a code to a mailbox, which only its owner reads; with an authenticator app, if one is demanded. */
  async mail(person: Person, flow: Flow, address: string): Promise<Done> {
    const { world } = this;
    const isOwn = address === person.address;
    const reach: Reach = isOwn ? { kind: 'browser', person, flow, mailbox: address } : { kind: 'nothing' };
    const { browser } = person.party;
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const credential = { origin: new URL(world.app.url).origin, flow: flow.id, cookie };
    const page = new SigninPage(world.app.url, credential, await newDeviceKey(), () => Math.floor(world.now() / 1000));
    const begun = await page.challenge();
    if (begun.httpStatus !== 200) return { outcome: this.closed(person, flow), reach: { kind: 'nothing' } };
    const asked = await page.step('authenticate', { userid: address });
    if (asked.status !== 'OTP_NEEDED') return { outcome: codeOf(asked), reach };
    const otp = isOwn ? await this.codeFor(address) : '000000';
    const proved = await page.step('verify-email-otp', { userid: address, otp });
    if (proved.status !== 'SUCCESS') return { outcome: codeOf(proved), reach };
    const registered = await page.step('verify-device', { userid: address, mfa_method: 'totp' }, 'registration');
    if (flow.accepted?.connection.organizationId != null) flow.connected.add(flow.accepted.connection.organizationId);
    if (flow.failed !== undefined && (await this.hasFallback(flow.failed))) flow.connected.add(flow.failed);
    const done = registered.status === 'DEVICE_REGISTERED' ? await this.factor(person, page, address) : registered;
    if (done.status !== 'SUCCESS') return { outcome: codeOf(done), reach };
    for (const line of done.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      browser.cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    return { outcome: `signed in ${await this.resumed(person, new URL(done['redirect_to'], world.app.url))}`, reach };
  }

  /** The sign-in of a page has ended. */
  private closed(person: Person, flow: Flow): string {
    person.flows = person.flows.filter((one) => one !== flow);
    return 'closed';
  }

  private async hasFallback(organizationId: string): Promise<boolean> {
    return (
      (
        await this.world.rows('select 1 from organizations where project_id = ? and id = ? and fallback', [
          organizationId,
        ])
      ).length > 0
    );
  }

  private async factor(person: Person, page: SigninPage, userid: string): Promise<StepAnswer> {
    const required = await page.step('authenticate', { userid }, 'use');
    if (required.status !== 'MFA_REQUIRED') return required;
    const begun = await page.step('initiate-mfa', { userid, session_id: required['session_id'] }, 'use');
    person.secret = begun['totp']?.secret ?? person.secret;
    if (person.secret === undefined) return begun;
    this.world.app.clock.turn(31);
    const otp = generateSync({ secret: person.secret, epoch: Math.floor(this.world.now() / 1000) });
    return page.step('verify-mfa', { userid, otp }, 'use');
  }

  private async codeFor(address: string): Promise<string> {
    await this.world.app.runJobs();
    const message = this.world.app.mailbox.findLast(({ to, text }) => to === address && /\b\d{6}\b/.test(text));
    return /\b\d{6}\b/.exec(message?.text ?? '')?.[0] ?? '000000';
  }
}

const codeOf = (answer: StepAnswer): string => String(answer['error']?.code ?? answer.status);
