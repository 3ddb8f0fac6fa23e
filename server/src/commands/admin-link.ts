import { system } from '../domain/kernel/actor.ts';
import { type Command } from './command.ts';
import { withInstance } from './with-instance.ts';

export const adminLink: Command = {
  name: 'admin:link',
  summary: 'Prints a setup link. The person who opens it and signs in becomes an owner.',
  notes: ['The link works once and expires in 15 minutes. Every link is recorded in the audit log.'],
  run: (_input, context) =>
    withInstance(context, async ({ services, database }) => {
      await services.seed.create({ demo: database.embedded !== undefined });
      const link = await services.admins.mintSetupLink(system);
      context.print(`Setup link (works once, expires in 15 minutes): ${link.url}`);
      return 0;
    }),
};
