import { randomBytes } from 'node:crypto';
import { grantTypeNames } from '../../../src/domain/kernel/openid.ts';
import { authorizationParameters, pkce } from '../../browser.ts';
import type { Reply } from '../wire.ts';
import {
  type Action,
  clientOf,
  csrfOf,
  type Draft,
  dpopHeaders,
  hidden,
  type MixedClient,
  type Site,
} from './draft.ts';
import { claimsOf, type Dice, type Party } from './party.ts';

const kinds: Record<string, string> = { client_id: 'client', code_challenge: 'challenge', redirect_uri: 'redirect' };
/** Begins at a position that differs by user and walk, because a walk ends before it has run all of them. */
const afterTokens = [
  ...['userinfo', 'device-begin', 'refresh', 'end-session', 'account', 'par', 'delegate-begin', 'device-begin'],
  ...['revoke', 'refresh', 'end-session', 'par', 'account', 'par'],
];

/** The requests of an application and of the browser that it sends to the provider. */
export function oidcFlows(site: Site): Record<string, Action> {
  const base = `/p/${site.project.slug}`;
  const token = `${base}/oauth2/token`;

  /** Usually the third-party client: more values of one user fit the flows of the other. */
  const anyClient = (dice: Dice) => (dice.next() < 0.4 ? site.clients[1] : dice.of(site.clients));

  /** Parameters of a new authorization request, whose values are kept with its challenge. */
  function requestOf(party: Party, dice: Dice, client: MixedClient | undefined): Draft['fields'] {
    const { verifier, challenge } = pkce();
    const scope = dice.next() < 0.3 ? 'openid email offline_access' : 'openid email';
    const state = randomBytes(8).toString('hex');
    const over = { redirect_uri: client?.redirect, scope, state };
    site.keep(party, { challenge }, { verifier });
    site.keep(party, { verifier });
    const fields: Draft['fields'] = {};
    const all = authorizationParameters(client?.id ?? '', challenge, over);
    for (const [name, value] of Object.entries(all)) fields[name] = [kinds[name] ?? '', value];
    if (client?.isThirdParty && dice.next() < 0.15) fields['prompt'] = ['', 'consent'];
    if (client?.isDpopBound) fields['dpop_jkt'] = ['dpop', party.dpop.jkt];
    const hint = [...party.held].findLast(({ kind, with: of }) => kind === 'id-token' && of['user'] === party.user);
    if (hint && dice.next() < 0.3) fields['id_token_hint'] = ['id-token', hint.text];
    return fields;
  }

  /** Values that belong to a flow: the parameters that the server stores. */
  const storedOf = (sent: Record<string, string>) => ({
    ...{ client: sent['client_id'], challenge: sent['code_challenge'], redirect: sent['redirect_uri'] },
    ...{ state: sent['state'], scope: sent['scope'], prompt: sent['prompt'], dpop: sent['dpop_jkt'] },
    verifier: site.values.of('challenge', sent['code_challenge'])?.with['verifier'],
    hinted: site.values.of('id-token', sent['id_token_hint'])?.with['user'],
  });

  /** The reply of /authorize and /authorize/resume. */
  function landed(by: Party, reply: Reply, of: Record<string, string | undefined>): string {
    const csrf = hidden(reply.text, 'csrf');
    if (reply.status === 200 && csrf !== undefined) {
      site.keep(by, { csrf }, { flow: hidden(reply.text, 'flow'), session: by.session });
      site.keep(by, { flow: hidden(reply.text, 'flow') }, of);
      return 'consent';
    }
    const flow = reply.location?.searchParams.get('flow');
    site.keep(by, { flow }, of);
    if (reply.location?.pathname.endsWith('/device/approval')) return 'device-decide';
    if (flow) return reply.location?.pathname === '/signin' ? 'challenge' : 'resume';
    const code = reply.location?.searchParams.get('code');
    site.keep(by, { code }, { ...of, user: by.user, session: by.session });
    return code ? 'exchange' : 'authorize';
  }

  const afterwards = (by: Party) => afterTokens[by.turn++ % afterTokens.length];

  const toToken = (fields: Draft['fields'], client: string | undefined, party: Party): Draft => ({
    ...{ method: 'POST', path: token, as: 'form' },
    fields: {
      ...{ ...fields, client_id: ['client', client] },
      '@dpop': ['dpop', clientOf(site, client)?.isDpopBound ? party.dpop.jkt : undefined],
    },
    headers: dpopHeaders(site, { method: 'POST', path: token }),
    learn: (by, reply, sent) => {
      const { id_token: id, access_token: access, refresh_token: refresh } = reply.json;
      const code = site.values.of('code', sent['code']) ?? site.values.of('refresh', sent['refresh_token']);
      const belongs = {
        ...{ client: sent['client_id'], dpop: sent['@dpop'], user: String(claimsOf(access)['sub']) },
        ...{ scope: reply.json['scope'], session: code?.with['session'] },
      };
      site.keep(by, { 'id-token': id, access, refresh }, belongs);
      return afterwards(by);
    },
  });

  return {
    authorize: (party, dice) => {
      let fields = requestOf(party, dice, anyClient(dice));
      const pushed = party.last('request-uri');
      if (pushed && !pushed.isSpent)
        fields = { request_uri: ['request-uri', pushed.text], client_id: ['client', pushed.with['client']] };
      return {
        ...{ method: 'GET', path: `${base}/authorize`, as: 'query', fields },
        aim: 'request_uri' in fields ? 'client_id' : 'id_token_hint' in fields ? 'id_token_hint' : undefined,
        learn: (by, reply, sent) =>
          landed(by, reply, site.values.of('request-uri', sent['request_uri'])?.with ?? storedOf(sent)),
      };
    },
    par: (party, dice) => ({
      ...{ method: 'POST', path: `${base}/oauth2/par`, as: 'form' },
      fields: requestOf(party, dice, dice.of(site.clients)),
      learn: (by, reply, sent) => {
        site.keep(by, { 'request-uri': reply.json['request_uri'] }, storedOf(sent));
        return 'authorize';
      },
    }),
    resume: (party) => ({
      ...{ method: 'GET', path: `${base}/authorize/resume`, as: 'query' },
      fields: { flow: ['flow', party.last('flow')?.text] },
      learn: (by, reply, sent) =>
        landed(by, reply, { ...site.values.of('flow', sent['flow'])?.with, flow: sent['flow'] }),
    }),
    consent: (party, dice) => {
      const page = [...party.held].findLast(({ kind, with: of }) => kind === 'csrf' && of['flow'] !== undefined);
      return {
        ...{ method: 'POST', path: `${base}/authorize/consent`, as: 'page' },
        fields: {
          ...{ flow: ['flow', page?.with['flow']], csrf: ['csrf', page?.text] },
          answer: ['', dice.next() < 0.8 ? 'allow' : 'cancel'],
        },
        learn: (by, _reply, sent) => {
          site.keep(by, { flow: sent['flow'] });
          return 'resume';
        },
      };
    },
    exchange: (party) => {
      const code = party.last('code');
      const fields: Draft['fields'] = {
        grant_type: ['', 'authorization_code'],
        code: ['code', code?.text],
        code_verifier: ['verifier', code?.with['verifier']],
        redirect_uri: ['redirect', code?.with['redirect']],
      };
      return toToken(fields, code?.with['client'], party);
    },
    refresh: (party) => {
      const last = party.last('refresh');
      const fields: Draft['fields'] = { grant_type: ['', 'refresh_token'], refresh_token: ['refresh', last?.text] };
      return toToken(fields, last?.with['client'], party);
    },
    'device-poll': (party) => {
      const device = party.last('device-code');
      const fields: Draft['fields'] = {
        grant_type: ['', grantTypeNames.device_code],
        device_code: ['device-code', device?.text],
      };
      return toToken(fields, device?.with['client'], party);
    },
    userinfo: (party) => {
      const last = party.last('access');
      const at = { method: 'GET', path: `${base}/userinfo` } as const;
      return {
        ...{ ...at, as: 'query', headers: dpopHeaders(site, at) },
        fields: { '@access': ['access', last?.text], '@dpop': ['dpop', last?.with['dpop']] },
        learn: afterwards,
      };
    },
    revoke: (party) => {
      const last = party.last('refresh');
      return {
        ...{ method: 'POST', path: `${base}/oauth2/revoke`, as: 'form' },
        fields: { token: ['refresh', last?.text], client_id: ['client', last?.with['client']] },
        learn: afterwards,
      };
    },
    'end-session': async (party, dice) => {
      const isForm = dice.next() < 0.25;
      const last = party.last('id-token');
      const path = `${base}/oauth2/end_session`;
      const csrf = isForm ? await csrfOf(site, party, path) : undefined;
      const client = isForm ? undefined : last?.with['client'];
      return {
        ...{ method: isForm ? 'POST' : 'GET', path, as: isForm ? 'page' : 'query' },
        fields: {
          ...{ client_id: ['client', client], id_token_hint: ['id-token', isForm ? undefined : last?.text] },
          ...(isForm && { csrf: ['csrf', csrf], project: ['', site.project.id] }),
          logout_scope: ['', dice.of(['session', 'global'])],
        },
        aim: isForm ? undefined : 'id_token_hint',
        // An application that has not noticed the logout.
        learn: () => 'refresh',
      };
    },
  };
}
