import { type Command } from '../command.ts';
import { withInstance } from '../with-instance.ts';
import { linesOf, named, wantedIn } from './wanted.ts';

export const plan: Command = {
  name: 'plan',
  summary: 'Compares projects with a directory of YAML files.',
  operands: ['<directory>'],
  notes: ['Exit code: 0 no changes, 2 changes, 1 failure. Format: server/docs/config-as-code.md.'],
  usageExitCode: 1,
  async run(input, context) {
    return withInstance(context, async (opened) => {
      let changes = 0;
      for (const { name, wanted, references } of wantedIn(input.operands[0] as string, context, opened)) {
        opened.interrupted.throwIfAborted();
        const differences = await opened.services.configurations.plan(wanted).catch((error: unknown) => {
          throw named(name, error);
        });
        changes += differences.length;
        const summary = differences.length === 0 ? 'no changes' : `${differences.length} to change`;
        context.print(`${name}: ${summary}`);
        for (const line of linesOf(differences, references)) context.print(line);
      }
      return changes === 0 ? 0 : 2;
    });
  },
};
