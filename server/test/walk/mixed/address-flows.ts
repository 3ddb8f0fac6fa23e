import { type Action, csrfOf, type Draft, type Site } from './draft.ts';
import { type Dice, otherMailbox, type Party } from './party.ts';

/** The changes of the login address on the account page, between the two mailboxes of a user. */
export function addressFlows(site: Site): Record<string, Action> {
  const page = `/account?project=${site.project.id}`;

  const change = async (
    party: Party,
    name: string,
    learn: Draft['learn'],
    fields: Draft['fields'] = {},
  ): Promise<Draft> => ({
    ...{ method: 'POST', path: '/account', as: 'page', aim: Object.keys(fields)[0] },
    fields: {
      ...{ project: ['', site.project.id], change: ['', name], csrf: ['csrf', await csrfOf(site, party, page)] },
      ...fields,
    },
    learn,
  });

  /** Twice, the sign-in is no longer fresh, but the code is still valid. */
  const wait = (dice: Dice): void => {
    if (dice.next() < 0.2) site.world.processes.clock.turn(200);
  };

  return {
    'account-confirm': (party) =>
      change(party, 'confirm', (by, reply) => {
        const flow = reply.location?.searchParams.get('flow');
        site.keep(by, { flow }, { client: '' });
        return flow ? 'challenge' : 'authorize';
      }),
    'account-email': (party, dice) => {
      wait(dice);
      return change(
        party,
        'change-email',
        (_by, reply) => {
          if (reply.location?.hash !== '#email') return 'authorize';
          return dice.next() < 0.1 ? 'account-email-drop' : 'account-email-code';
        },
        { email: ['mailbox', otherMailbox(party.address)] },
      );
    },
    'account-email-drop': (party) => change(party, 'drop-email', () => 'account-email-code'),
    'account-email-code': (party, dice) => {
      wait(dice);
      // Tokens and open sign-ins from before the change end.
      const next = dice.of(['refresh', 'userinfo', 'exchange', 'verify-email-otp', 'authorize']);
      return change(party, 'verify-email', () => next, { code: ['email-code', party.last('email-code')?.text] });
    },
  };
}
