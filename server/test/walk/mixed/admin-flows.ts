import type { Action, Site } from './draft.ts';

/** The pages of a setup link, which makes its holder an owner. The sign-in that follows is that of {@link signinFlows}. */
export function adminFlows({ console, keep, world }: Site): Record<string, Action> {
  return {
    'setup-open': (party) => ({
      ...{ method: 'GET', path: '/setup', as: 'query' },
      fields: { token: ['setup-link', party.last('setup-link')?.text] },
      // Without a token, the page is that of the link in the browser's cookie.
      learn: (by, _reply, { token = by.setupLink }) => {
        by.setupLink = token;
        return 'setup-begin';
      },
    }),
    'setup-begin': (party, dice) => ({
      ...{ method: 'POST', path: '/setup', as: 'page' },
      fields: { email: ['address', party.address] },
      learn: (by, reply) => {
        const flow = reply.location?.searchParams.get('flow');
        if (dice.next() < 0.2) world.processes.clock.turn(310);
        keep(by, { flow }, { console: console.id, client: console.clients[0]?.id, link: by.setupLink });
        return 'challenge';
      },
    }),
  };
}
