import { closeSync, openSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CreatedSecrets } from '../../domain/configuration/writer.ts';
import { system } from '../../domain/kernel/actor.ts';
import { type Command, UsageError, withInstance } from '../command.ts';
import { linesOf, named, wantedIn } from './wanted.ts';

export const apply: Command = {
  name: 'apply',
  summary: 'Makes projects as a directory of YAML files describes them.',
  operands: ['<directory>'],
  options: {
    prune: { type: 'boolean', description: 'delete applications, roles, APIs and attributes that the files lack' },
    'secrets-to': { type: 'string', value: 'file', description: 'new file for the secrets of new applications' },
  },
  notes: [
    'All files are checked first. Each project is one transaction; settings that a file lacks stay as they are.',
    'Without --secrets-to, issue keys of new applications in the console.',
  ],
  async run(input, surroundings) {
    const path = input.text('secrets-to');
    return withInstance(surroundings, async (opened) => {
      const files = wantedIn(input.operands[0] as string, surroundings, opened);
      const keep = path === undefined ? null : secretsFile(resolve(path));
      try {
        for (const { name, wanted, references } of files) {
          const options = { prune: input.flag('prune'), actor: system };
          const written = await opened.services.configurations.apply(wanted, options).catch((error: unknown) => {
            throw named(name, error);
          });
          for (const secrets of written.secrets) keep?.write({ project: wanted.slug, ...secrets });
          const { changes } = written;
          surroundings.say(`${name}: ${changes.length === 0 ? 'no changes' : `${changes.length} changed`}`);
          for (const line of linesOf(changes, references)) surroundings.say(line);
        }
      } finally {
        keep?.close();
      }
      return 0;
    });
  },
};

/** JSON lines, readable by the owner alone. */
function secretsFile(path: string) {
  try {
    const file = openSync(path, 'wx', 0o600);
    return {
      write: (secrets: CreatedSecrets & { project: string }) => void writeSync(file, `${JSON.stringify(secrets)}\n`),
      close: () => closeSync(file),
    };
  } catch (error) {
    throw new UsageError(`${path} cannot be created (${(error as NodeJS.ErrnoException).code})`);
  }
}
