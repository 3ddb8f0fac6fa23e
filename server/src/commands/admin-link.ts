import { system } from '../domain/kernel/actor.ts';
import { type Command, withInstance } from './command.ts';

export const adminLink: Command = {
  name: 'admin:link',
  summary: 'Prints a set-up link: whoever opens it and signs in becomes an owner.',
  notes: ['The link is good once, for 15 minutes, and every one is in the audit log.'],
  run: (_input, surroundings) =>
    withInstance(surroundings, async ({ services, database }) => {
      await services.seed.plant({ demo: database.embedded !== undefined });
      const link = await services.admins.mintSetupLink(system);
      surroundings.say(`Set-up link, good once and for 15 minutes: ${link.url}`);
      return 0;
    }),
};
