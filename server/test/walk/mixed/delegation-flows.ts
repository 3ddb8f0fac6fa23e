import { delegationMediaType } from '@latchkey/contracts';
import { generateSync } from 'otplib';
import type { TestBackEnd } from '../../back-end.ts';
import { type Reply, send } from '../wire.ts';
import { type Action, type Draft, isOwn, type Site } from './draft.ts';
import type { Dice, Party } from './party.ts';

/** The requests of back ends about the second factors of their users. */
export function delegationFlows(site: Site): Record<string, Action> {
  const { keep, values, world } = site;

  const anyBackEnd = (dice: Dice) => dice.of([...site.backEnds.keys()]);
  const sent = (
    op: string,
    backEnd: string | undefined,
    dice: Dice,
    fields: Draft['fields'],
    learn: (by: Party, reply: Reply, sent: Record<string, string>) => string,
  ): Draft => ({
    ...{ method: 'POST', path: '/v1/delegation', as: 'sealed', aim: dice.of(['userid', 'userid', '@back-end']) },
    fields: { '@op': ['', op], '@back-end': ['back-end', backEnd], '@api-key': ['back-end', backEnd], ...fields },
    learn,
  });
  /**
   * Names the user by address or id. The back end of another project uses only an id: no user there has the address.
   */
  const request = (party: Party, ...[op, backEnd, dice, fields, learn]: Parameters<typeof sent>): Draft => {
    const isById = !isOwn(site, backEnd) || dice.next() < 0.3;
    const userid: Draft['fields'][string] = isById ? ['user', party.user] : ['address', party.address];
    return sent(op, backEnd, dice, { userid, ...fields }, learn);
  };

  return {
    'delegate-begin': (party, dice) =>
      request(party, 'initiateMfaChange', anyBackEnd(dice), dice, { mfa_method: ['', 'totp'] }, (by, reply, sent) => {
        const { session_id: change, totp } = reply.json;
        const named = values.of('user', sent['userid'])?.of ?? values.of('address', sent['userid'])?.of;
        const of = { 'back-end': sent['@back-end'], address: named?.address, user: named?.user };
        keep(by, { change }, { ...of, secret: totp?.secret, at: String(world.now()) });
        return dice.next() < 0.2 ? 'repeat-request' : 'delegate-verify';
      }),
    'delegate-verify': (party, dice) => {
      const change = party.last('change');
      if (dice.next() < 0.05) world.processes.clock.turn(601);
      const { secret } = change?.with ?? {};
      const code = secret && generateSync({ secret, epoch: Math.floor(world.now() / 1000) });
      keep(party, { 'change-code': code }, { change: change?.text });
      return request(
        party,
        'verifyMfaChange',
        change?.with['back-end'],
        dice,
        {
          session_id: ['change', change?.text],
          otp: ['change-code', code],
        },
        (by, _reply, sent) => {
          keep(by, { secret: values.of('change', sent['session_id'])?.with['secret'] });
          // A code is accepted once.
          by.mustWait = true;
          return dice.of(['delegate-read', 'delegate-verify', 'repeat-request', 'refresh', 'refresh']) as string;
        },
      );
    },
    'delegate-read': (party, dice) =>
      request(party, 'getUserCredentials', anyBackEnd(dice), dice, {}, () =>
        dice.next() < 0.5 ? 'repeat-request' : 'authorize',
      ),
    'repeat-request': (_party, dice) => ({
      ...sent('a repeated one', [...site.sealed.keys()].at(-1), dice, { '@again': ['', 'yes'] }, () => 'authorize'),
      aim: undefined,
    }),
  };
}

/** Sends a request of a back end; the reply is the decrypted one. */
export async function sendSealed(site: Site, url: string, fields: Record<string, string>): Promise<Reply> {
  const { backEnds, sealed } = site;
  const { '@op': op = '', '@back-end': id = '', '@api-key': key, '@again': again, ...body } = fields;
  const backEnd = backEnds.get(id);
  const text = again === undefined ? ((await backEnd?.seal({ op, body })) ?? '') : (sealed.get(id) ?? '');
  sealed.delete(id);
  // With the key of another back end, it is refused before it is used up.
  if (key === id) sealed.set(id, text);
  const headers = { 'Content-Type': delegationMediaType, 'X-Api-Key': backEnds.get(key ?? '')?.secretKey ?? '' };
  const reply = await send('POST', url, headers, text);
  const opened = backEnd && reply.status === 200 ? await opensWith(backEnd, reply) : undefined;
  if (!opened) return reply;
  return { ...reply, status: opened.status, json: opened.body, text: JSON.stringify(opened.body) };
}

/** Undefined if the reply is encrypted to another back end. */
function opensWith(backEnd: TestBackEnd, { text }: Reply) {
  return backEnd.open(text).catch(() => undefined);
}
