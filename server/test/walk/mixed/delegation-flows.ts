import { delegationMediaType } from '@latchkey/contracts';
import { generateSync } from 'otplib';
import type { TestBackEnd } from '../../back-end.ts';
import { type Reply, send } from '../wire.ts';
import type { Action, Draft, Site } from './draft.ts';
import type { Party } from './party.ts';

/** The requests of back ends about the second factors of their users. */
export function delegationFlows(site: Site): Record<string, Action> {
  const { keep, values, world } = site;

  const request = (
    op: string,
    backEnd: string | undefined,
    fields: Draft['fields'],
    learn: (by: Party, reply: Reply, sent: Record<string, string>) => string,
  ): Draft => ({
    ...{ method: 'POST', path: '/v1/delegation', as: 'sealed', aim: 'userid' },
    fields: { '@op': ['', op], '@back-end': ['back-end', backEnd], '@api-key': ['back-end', backEnd], ...fields },
    learn,
  });

  return {
    'delegate-begin': (party, dice) =>
      request(
        'initiateMfaChange',
        dice.of([...site.backEnds.keys()]),
        { userid: ['address', party.address], mfa_method: ['', 'totp'] },
        (by, reply, sent) => {
          const { session_id: change, totp } = reply.json;
          keep(by, { change }, { 'back-end': sent['@back-end'], address: sent['userid'], secret: totp?.secret });
          return 'delegate-verify';
        },
      ),
    'delegate-verify': (party) => {
      const change = party.last('change');
      const { secret } = change?.with ?? {};
      const code = secret && generateSync({ secret, epoch: Math.floor(world.now() / 1000) });
      keep(party, { 'change-code': code }, { change: change?.text });
      return request(
        'verifyMfaChange',
        change?.with['back-end'],
        {
          userid: ['address', party.address],
          session_id: ['change', change?.text],
          otp: ['change-code', code],
        },
        (by, _reply, sent) => {
          keep(by, { secret: values.of('change', sent['session_id'])?.with['secret'] });
          // A code is accepted once.
          by.mustWait = true;
          return 'delegate-read';
        },
      );
    },
    'delegate-read': (party, dice) =>
      request(
        'getUserCredentials',
        dice.of([...site.backEnds.keys()]),
        { userid: ['address', party.address] },
        () => 'authorize',
      ),
  };
}

/** Sends a request of a back end; the reply is the decrypted one. */
export async function sendSealed({ backEnds }: Site, url: string, fields: Record<string, string>): Promise<Reply> {
  const { '@op': op = '', '@back-end': id, '@api-key': key, ...body } = fields;
  const backEnd = backEnds.get(id ?? '');
  const headers = { 'Content-Type': delegationMediaType, 'X-Api-Key': backEnds.get(key ?? '')?.secretKey ?? '' };
  const reply = await send('POST', url, headers, (await backEnd?.seal({ op, body })) ?? '');
  const opened = backEnd && reply.status === 200 ? await opensWith(backEnd, reply) : undefined;
  if (!opened) return reply;
  return { ...reply, status: opened.status, json: opened.body, text: JSON.stringify(opened.body) };
}

/** Undefined if the reply is encrypted to another back end. */
function opensWith(backEnd: TestBackEnd, { text }: Reply) {
  return backEnd.open(text).catch(() => undefined);
}
