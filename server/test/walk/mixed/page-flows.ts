import { type Action, csrfOf, hidden, type Site } from './draft.ts';

const changesOfAccount = [
  ...['end-session', 'end-other-sessions', 'revoke-device', 'remove-factor', 'renew-recovery-codes', 'change-phone'],
  ...['verify-phone', 'add-passkey', 'add-authenticator', 'verify-authenticator', 'drop-authenticator', 'confirm'],
  ...['remove-application', 'remove-application', 'forget-browser', 'cancel-recovery', 'rename-device', 'edit-profile'],
];
/** The kind of value that a change of the account names. */
const named: [RegExp, string][] = [
  [/session/, 'session'],
  [/application/, 'client'],
  [/./, 'account-item'],
];

/** The pages of devices and of the account. */
export function pageFlows(site: Site): Record<string, Action> {
  const { project, values } = site;
  const base = `/p/${project.slug}`;
  return {
    'device-begin': (_party, dice) => ({
      ...{ method: 'POST', path: `${base}/oauth2/device_authorization`, as: 'form' },
      fields: { client_id: ['client', dice.of(site.clients)?.id], scope: ['', 'openid email'] },
      learn: (by, reply, sent) => {
        const { device_code: code, user_code: user } = reply.json;
        site.keep(by, { 'device-code': code }, { 'user-code': user, client: sent['client_id'] });
        site.keep(by, { 'user-code': user }, { 'device-code': code, client: sent['client_id'] });
        return 'device-enter';
      },
    }),
    'device-enter': async (party) => ({
      ...{ method: 'POST', path: `${base}/device`, as: 'page' },
      fields: {
        csrf: ['csrf', await csrfOf(site, party, `${base}/device`)],
        user_code: ['user-code', party.last('user-code')?.text],
      },
      learn: (by, reply, sent) => {
        const flow = reply.location?.searchParams.get('flow');
        const { client } = values.of('user-code', sent['user_code'])?.with ?? {};
        site.keep(by, { flow }, { 'user-code': sent['user_code'], client });
        return reply.location?.pathname === '/signin' ? 'challenge' : 'device-decide';
      },
    }),
    'device-decide': async (party, dice) => {
      const flow = [...party.held].findLast(({ kind, with: of }) => kind === 'flow' && of['user-code'] !== undefined);
      const path = `${base}/device/approval`;
      const csrf = flow && (await csrfOf(site, party, `${path}?flow=${flow.text}`, { 'device-flow': flow.text }));
      return {
        ...{ method: 'POST', path, as: 'page' },
        fields: {
          ...{ flow: ['flow', flow?.text], csrf: ['csrf', csrf] },
          decision: ['', dice.next() < 0.85 ? 'allow' : 'deny'],
        },
        learn: (_by, reply) => (reply.location ? 'challenge' : 'device-poll'),
      };
    },
    account: async (party, dice) => {
      const text = await site.page(party, `/account?project=${project.id}`);
      const csrf = hidden(text, 'csrf');
      site.keep(party, { csrf }, { session: party.session });
      for (const [, id = ''] of text.matchAll(/name="id" value="([^"]*)"/g)) site.keep(party, { 'account-item': id });
      const change = dice.of(changesOfAccount) as string;
      const kind = named.find(([pattern]) => pattern.test(change))?.[1] ?? '';
      const id = kind === 'session' ? party.session : party.last(kind)?.text;
      return {
        ...{ method: 'POST', path: '/account', as: 'page' },
        fields: {
          ...{ project: ['', project.id], csrf: ['csrf', csrf], change: ['', change], id: [kind, id] },
          ...{ code: ['otp', party.last('otp')?.text], phone: ['', '+4915112345678'] },
          ...{ name: ['', 'Mine'], fields: ['', 'displayName'], displayName: ['', party.name] },
        },
        learn: (by, reply) => {
          const flow = reply.location?.searchParams.get('flow');
          site.keep(by, { flow }, { client: '' });
          return flow ? 'challenge' : 'device-begin';
        },
      };
    },
  };
}
