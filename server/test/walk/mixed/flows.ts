import { createHash, randomBytes } from 'node:crypto';
import { deviceProofHeader, deviceProofType, signinFlowHeader } from '@latchkey/contracts';
import { generateSync } from 'otplib';
import { grantTypeNames } from '../../../src/domain/kernel/openid.ts';
import { authorizationParameters, pkce } from '../../browser.ts';
import { signJws } from '../../signin-browser.ts';
import type { Change } from '../changes.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';
import type { Dice, Party } from './party.ts';
import type { Rules } from './rules.ts';

/** A request before it is sent. */
export interface Draft {
  method: 'GET' | 'POST';
  path: string;
  /** `page`: a form of a page, with its origin. */
  as: 'query' | 'form' | 'page' | 'json';
  /** The kind of value of each parameter, with the right one. */
  fields: Record<string, [string, string | undefined]>;
  headers?: (fields: Record<string, string>) => Record<string, string>;
  /** Learns from the reply; returns the next honest action. */
  applyStep: (reply: Reply, fields: Record<string, string>, changes: readonly Change[]) => string | undefined;
}
type Action = (party: Party, dice: Dice) => Draft | Promise<Draft>;

const changesOfAccount = [
  ...['end-session', 'end-other-sessions', 'revoke-device', 'remove-factor', 'renew-recovery-codes', 'change-phone'],
  ...['verify-phone', 'add-passkey', 'add-authenticator', 'verify-authenticator', 'drop-authenticator', 'confirm'],
  ...['remove-application', 'remove-application', 'forget-browser', 'cancel-recovery', 'rename-device', 'edit-profile'],
];

/** Every request of a user at the endpoints of a project, with the values that an honest one sends. */
export class Flows {
  /** @param page reads a page as the party */
  constructor(
    private readonly world: World,
    private readonly project: { id: string; slug: string },
    private readonly clients: readonly { id: string }[],
    private readonly rules: Rules,
    private readonly page: (party: Party, path: string) => Promise<string>,
  ) {}

  private keepAll(party: Party, some: Record<string, unknown>, belongs: Record<string, string> = {}): void {
    for (const [kind, text] of Object.entries(some)) party.keep(kind, text, this.world.model.step, belongs);
  }

  readonly actions: Record<string, Action> = {
    authorize: (party, dice) => {
      const { verifier, challenge } = pkce();
      const client = dice.of(this.clients) ?? { id: '' };
      const scope = dice.of(['openid email', 'openid email offline_access']);
      const over = { redirect_uri: redirect, scope, state: randomBytes(8).toString('hex') };
      const all = authorizationParameters(client.id, challenge, over);
      const kinds: Record<string, string> = { client_id: 'client', state: 'state', code_challenge: 'challenge' };
      const fields: Draft['fields'] = {};
      for (const [name, value] of Object.entries(all)) fields[name] = [kinds[name] ?? '', value];
      const pushed = party.last('request-uri');
      if (pushed && dice.next() < 0.3)
        Object.assign(fields, {
          request_uri: ['request-uri', pushed.text],
          client_id: ['client', pushed.with['client']],
        });
      return {
        ...{ method: 'GET', path: `/p/${this.project.slug}/authorize`, as: 'query', fields },
        applyStep: (reply, sent) => {
          this.keepAll(party, { verifier, challenge }, { verifier });
          // An earlier challenge that was mixed in keeps its verifier.
          const request =
            sent['request_uri'] === undefined
              ? party.find('challenge', sent['code_challenge'])
              : party.find('request-uri', sent['request_uri']);
          const own = request?.with['verifier'];
          return this.landed(party, reply, { verifier: own ?? '', client: sent['client_id'] ?? '' });
        },
      };
    },
    par: (party, dice) => {
      const { verifier, challenge } = pkce();
      const client = dice.of(this.clients) ?? { id: '' };
      const all = authorizationParameters(client.id, challenge, { redirect_uri: redirect, scope: 'openid email' });
      const fields: Draft['fields'] = {};
      for (const [name, value] of Object.entries(all)) fields[name] = [name === 'client_id' ? 'client' : '', value];
      return {
        ...{ method: 'POST', path: `/p/${this.project.slug}/oauth2/par`, as: 'form', fields },
        applyStep: (reply, sent) => {
          party.keep('request-uri', reply.json['request_uri'], this.world.model.step, {
            ...{ verifier, client: sent['client_id'] ?? '' },
          });
          return 'authorize';
        },
      };
    },
    challenge: (party) =>
      this.signin(party, 'challenge', { jkt: ['', party.key.jkt] }, (reply) => {
        this.keepAll(party, { txn: reply.json['txn'] });
        return 'authenticate';
      }),
    authenticate: (party) =>
      this.signin(
        party,
        'authenticate',
        { userid: ['address', party.address] },
        (reply) => (reply.json['status'] === 'OTP_NEEDED' ? 'verify-email-otp' : this.ofStatus(party, reply)),
        true,
      ),
    'verify-email-otp': (party) =>
      this.signin(
        party,
        'verify-email-otp',
        { userid: ['address', party.address], otp: ['otp', party.last('otp')?.text] },
        () => 'verify-device',
      ),
    'verify-device': (party, dice) => {
      const method: Draft['fields'] = dice.next() < 0.2 ? { mfa_method: ['', 'totp'] } : {};
      return this.signin(
        party,
        'verify-device',
        { userid: ['address', party.address], ...method },
        (reply) => this.ofStatus(party, reply),
        true,
      );
    },
    'initiate-mfa': (party) =>
      this.signin(
        party,
        'initiate-mfa',
        { userid: ['address', party.address], session_id: ['mfa', party.last('mfa')?.text] },
        (reply) => {
          this.keepAll(party, { secret: reply.json['totp']?.secret });
          return 'verify-mfa';
        },
        true,
      ),
    'verify-mfa': (party) => {
      const secret = party.last('secret')?.text;
      const otp = secret ? generateSync({ secret, epoch: Math.floor(this.world.now() / 1000) }) : '000000';
      return this.signin(
        party,
        'verify-mfa',
        { userid: ['address', party.address], otp: ['otp', otp] },
        (reply) => this.ofStatus(party, reply),
        true,
      );
    },
    resume: (party) => ({
      ...{ method: 'GET', path: `/p/${this.project.slug}/authorize/resume`, as: 'query' },
      fields: { flow: ['flow', party.last('flow')?.text] },
      applyStep: (reply, sent) => this.landed(party, reply, party.find('flow', sent['flow'])?.with ?? {}),
    }),
    consent: (party, dice) => ({
      ...{ method: 'POST', path: `/p/${this.project.slug}/authorize/consent`, as: 'page' },
      fields: {
        flow: ['flow', party.last('consent')?.with['flow']],
        csrf: ['consent', party.last('consent')?.text],
        answer: ['', dice.next() < 0.8 ? 'allow' : 'cancel'],
      },
      applyStep: (_reply, sent) => {
        const flow = party.find('flow', sent['flow']);
        if (flow) party.keep('flow', flow.text, this.world.model.step, flow.with);
        return 'resume';
      },
    }),
    exchange: (party) => {
      const code = party.last('code');
      return {
        ...{ method: 'POST', path: `/p/${this.project.slug}/oauth2/token`, as: 'form' },
        fields: {
          grant_type: ['', 'authorization_code'],
          code: ['code', code?.text],
          code_verifier: ['verifier', code?.with['verifier']],
          client_id: ['client', code?.with['client']],
          redirect_uri: ['', redirect],
        },
        applyStep: (reply, sent) => this.gotTokens(party, reply, sent),
      };
    },
    refresh: (party) => {
      const token = party.last('refresh');
      return {
        ...{ method: 'POST', path: `/p/${this.project.slug}/oauth2/token`, as: 'form' },
        fields: {
          grant_type: ['', 'refresh_token'],
          refresh_token: ['refresh', token?.text],
          client_id: ['client', token?.with['client']],
        },
        applyStep: (reply, sent) => this.gotTokens(party, reply, sent),
      };
    },
    userinfo: (party) => ({
      ...{ method: 'POST', path: `/p/${this.project.slug}/userinfo`, as: 'form' },
      fields: { access_token: ['access', party.last('access')?.text] },
      applyStep: () => undefined,
    }),
    revoke: (party) => {
      const token = party.last('refresh');
      return {
        ...{ method: 'POST', path: `/p/${this.project.slug}/oauth2/revoke`, as: 'form' },
        fields: { token: ['refresh', token?.text], client_id: ['client', token?.with['client']] },
        applyStep: () => undefined,
      };
    },
    'device-begin': (party, dice) => ({
      ...{ method: 'POST', path: `/p/${this.project.slug}/oauth2/device_authorization`, as: 'form' },
      fields: { client_id: ['client', dice.of(this.clients)?.id], scope: ['', 'openid email'] },
      applyStep: (reply, sent) => {
        const { device_code: code, user_code: user } = reply.json;
        this.keepAll(party, { 'device-code': code }, { user, client: sent['client_id'] ?? '' });
        this.keepAll(party, { 'user-code': user });
        this.rules.began(user, code, sent['client_id'] ?? '');
        return 'device-enter';
      },
    }),
    'device-enter': async (party) => {
      const path = `/p/${this.project.slug}/device`;
      const csrf = hidden(await this.page(party, path), 'csrf');
      this.keepAll(party, { csrf });
      return {
        ...{ method: 'POST', path, as: 'page' },
        fields: { csrf: ['csrf', csrf], user_code: ['user-code', party.last('user-code')?.text] },
        applyStep: (reply, sent) => {
          const flow = reply.location?.searchParams.get('flow');
          this.keepAll(party, { flow }, { user: sent['user_code'] ?? '' });
          return reply.location?.pathname === '/signin' ? 'challenge' : 'device-decide';
        },
      };
    },
    'device-decide': async (party, dice) => {
      const device = party.bag.findLast(({ kind, with: of }) => kind === 'flow' && of['user'] !== undefined);
      const path = `/p/${this.project.slug}/device/approval`;
      const csrf = device && hidden(await this.page(party, `${path}?flow=${device.text}`), 'csrf');
      this.keepAll(party, { csrf });
      return {
        ...{ method: 'POST', path, as: 'page' },
        fields: {
          flow: ['flow', device?.text],
          csrf: ['csrf', csrf],
          decision: ['', dice.next() < 0.85 ? 'allow' : 'deny'],
        },
        applyStep: (reply, sent) => {
          if (reply.location) return 'challenge';
          const user = party.find('flow', sent['flow'])?.with['user'];
          this.rules.decided(party, user, sent['decision'] === 'allow');
          return 'device-poll';
        },
      };
    },
    'device-poll': (party) => {
      const device = party.last('device-code');
      return {
        ...{ method: 'POST', path: `/p/${this.project.slug}/oauth2/token`, as: 'form' },
        fields: {
          grant_type: ['', grantTypeNames.device_code],
          device_code: ['device-code', device?.text],
          client_id: ['client', device?.with['client']],
        },
        applyStep: (reply, sent) => this.gotTokens(party, reply, sent),
      };
    },
    account: async (party, dice) => {
      const text = await this.page(party, `/account?project=${this.project.id}`);
      const csrf = hidden(text, 'csrf');
      this.keepAll(party, { csrf });
      for (const [, id = ''] of text.matchAll(/name="id" value="([^"]*)"/g))
        this.keepAll(party, { device: id, session: id });
      const change = dice.of(changesOfAccount) as string;
      const kind = /session/.test(change)
        ? 'session'
        : /factor/.test(change)
          ? 'enrolment'
          : /appl/.test(change)
            ? 'client'
            : 'device';
      const code = party.last('otp')?.text;
      return {
        ...{ method: 'POST', path: '/account', as: 'page' },
        fields: {
          ...{ project: ['', this.project.id], csrf: ['csrf', csrf], change: ['', change] },
          ...{ id: [kind, party.last(kind)?.text], code: ['otp', code], phone: ['', '+4915112345678'] },
          ...{ name: ['', 'Mine'], fields: ['', 'displayName'], displayName: ['', party.name] },
        },
        applyStep: (reply) => {
          const flow = reply.location?.searchParams.get('flow');
          this.keepAll(party, { flow }, { client: '' });
          return flow ? 'challenge' : undefined;
        },
      };
    },
    'end-session': async (party, dice) => {
      const isForm = dice.next() < 0.5;
      const last = party.last('id-token');
      const path = `/p/${this.project.slug}/oauth2/end_session`;
      const csrf = isForm ? hidden(await this.page(party, path), 'csrf') : undefined;
      this.keepAll(party, { csrf });
      return {
        ...{ method: isForm ? 'POST' : 'GET', path, as: isForm ? 'page' : 'query' },
        fields: {
          client_id: ['client', dice.of(this.clients)?.id],
          id_token_hint: ['id-token', last?.text],
          ...(isForm && { csrf: ['csrf', csrf], project: ['', this.project.id] }),
        },
        applyStep: () => undefined,
      };
    },
  };

  /** A step of the hosted page. */
  private signin(
    party: Party,
    step: string,
    fields: Draft['fields'],
    learns: (reply: Reply) => string | undefined,
    isProved = false,
  ): Draft {
    const txn: Draft['fields'] = step === 'challenge' ? {} : { txn: ['txn', party.last('txn')?.text] };
    const all: Draft['fields'] = { ...txn, ...fields, [flowField]: ['flow', party.last('flow')?.text] };
    return {
      ...{ method: 'POST', path: `/v1/signin/${step}`, as: 'json', fields: all },
      headers: (sent) => {
        const { [flowField]: flow = '', ...rest } = sent;
        const proof: Record<string, string> = isProved
          ? { [deviceProofHeader]: this.prove(party, step, JSON.stringify(rest), sent, flow) }
          : {};
        return { [signinFlowHeader]: flow, ...proof };
      },
      applyStep: (reply) => {
        this.keepAll(party, { mfa: reply.json['session_id'], nonce: reply.json['nonce'] });
        return learns(reply);
      },
    };
  }

  private prove(party: Party, step: string, body: string, sent: Record<string, string>, flow: string): string {
    const named = step === 'verify-device' ? { jwk: party.key.jwk } : { kid: party.key.jkt };
    const client = party.find('flow', flow)?.with['client'];
    const claims = {
      ...{ act: step, aud: `${this.world.issuer}/${this.project.id}`, cid: client, org: this.world.issuer },
      ...{ txn: sent['txn'], nonce: party.nonce, bh: createHash('sha256').update(body).digest('base64url') },
      ...{ iat: Math.floor(this.world.now() / 1000), jti: randomBytes(16).toString('base64url') },
    };
    return signJws({ typ: deviceProofType, alg: 'ES256', ...named }, claims, party.key);
  }

  private ofStatus(party: Party, reply: Reply): string {
    const { status } = reply.json;
    if (status === 'SUCCESS') return 'resume';
    if (status === 'MFA_REQUIRED') return 'initiate-mfa';
    if (status === 'DEVICE_REGISTERED') return 'authenticate';
    return party.next;
  }

  /** The reply of /authorize and /authorize/resume. */
  private landed(party: Party, reply: Reply, of: Record<string, string>): string {
    const { step } = this.world.model;
    const consent = hidden(reply.text, 'csrf');
    if (reply.status === 200 && consent !== undefined) {
      party.keep('consent', consent, step, { flow: hidden(reply.text, 'flow') ?? '' });
      return 'consent';
    }
    const flow = reply.location?.searchParams.get('flow');
    if (reply.location?.pathname.endsWith('/device/approval')) return 'device-decide';
    if (flow) {
      const known = party.find('flow', flow);
      party.keep('flow', flow, step, known?.with ?? of);
      return reply.location?.pathname === '/signin' ? 'challenge' : 'resume';
    }
    const code = reply.location?.searchParams.get('code');
    if (!code) return 'authorize';
    party.keep('code', code, step, of);
    return 'exchange';
  }

  private gotTokens(party: Party, reply: Reply, sent: Record<string, string>): string {
    const { id_token: id, access_token: access, refresh_token: refresh } = reply.json;
    this.keepAll(party, { 'id-token': id, access, refresh }, { client: sent['client_id'] ?? '' });
    const other = ['userinfo', 'device-begin', 'account', 'par', 'refresh', 'authorize', 'end-session'];
    return other[this.world.model.step % other.length] as string;
  }
}

export const redirect = 'https://third.example.com/callback';
/** Sent in a header. */
export const flowField = 'flow-header';

function hidden(html: string, name: string): string | undefined {
  return new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1];
}
