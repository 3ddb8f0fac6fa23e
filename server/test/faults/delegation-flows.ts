import { randomInt } from 'node:crypto';
import { TestBackEnd } from '../back-end.ts';
import { newAddress, type SigninWorld } from '../signin-world.ts';
import type { Answered, Flow } from './fault-lab.ts';

type Kind = 'email' | 'sms' | 'totp';

/** Operations of back ends. A repeated request has a new identifier, as in the library. */
export function delegationFlows(world: SigninWorld): Flow[] {
  const start = async () => {
    await world.begin({ mfaPolicy: 'optional', emailFactor: true });
    const address = newAddress();
    await world.user({ userName: address, userNameKey: address, email: address, emailKey: address });
    const backEnd = await TestBackEnd.of(world.app, world.project);
    // The queries of the test back end must not count as the server's.
    const ours = await backEnd.ours();
    backEnd.ours = async () => ours;
    const send = async (op: string, body: object): Promise<Answered & { reply: Record<string, unknown> }> => {
      const { status, text, payload } = await backEnd.send(
        await backEnd.seal({ op, body: { userid: address, ...body } }),
      );
      const inside = payload ?? { status, body: JSON.parse(text) as Record<string, unknown> };
      const wait = (inside.body['error'] as { retry_after?: number } | undefined)?.retry_after;
      const headers = new Headers(wait === undefined ? {} : { 'retry-after': String(wait) });
      const answered = { status: inside.status, headers, body: JSON.stringify(inside.body), reply: inside.body };
      return { ...answered, isSuccess: inside.status === 200 };
    };
    return { address, send };
  };
  const initiate = async (kind: Kind) => {
    const { address, send } = await start();
    const phone = `+1202555${randomInt(1000, 10_000)}`;
    const change = { mfa_method: kind, ...(kind === 'sms' && { phone_number: phone }) };
    return { begin: () => send('initiateMfaChange', change), send, to: kind === 'sms' ? phone : address };
  };
  // The identifier of a request is used up even if the request fails.
  const stays = /^\+ used_delegation_requests$/;

  return [
    {
      name: 'delegation: getUserCredentials',
      again: 'succeeds',
      stays,
      prepare: async () => {
        const { send } = await start();
        return () => send('getUserCredentials', {});
      },
    },
    ...(['email', 'sms', 'totp'] as const).flatMap((kind): Flow[] => [
      {
        name: `delegation: initiateMfaChange to ${kind}`,
        again: 'anything',
        stays,
        prepare: async () => (await initiate(kind)).begin,
      },
      {
        name: `delegation: verifyMfaChange to ${kind}`,
        stays,
        prepare: async () => {
          const { begin, send, to } = await initiate(kind);
          const { reply } = await begin();
          const totp = reply['totp'] as { secret: string } | undefined;
          const otp = totp ? world.totp(totp.secret) : await world.codeFor(to);
          return () => send('verifyMfaChange', { session_id: reply['session_id'], otp });
        },
      },
    ]),
  ];
}
