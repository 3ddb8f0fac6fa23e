import { closeSync, fsyncSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { unwritable } from '../../adapters/files/unwritable.ts';
import type { CreatedSecrets } from '../../domain/configuration/writer.ts';
import { system } from '../../domain/kernel/actor.ts';
import { Refusal } from '../../domain/kernel/problem.ts';
import { type Command, UsageError } from '../command.ts';
import { withInstance } from '../with-instance.ts';
import { linesOf, named, wantedIn } from './wanted.ts';

export const apply: Command = {
  name: 'apply',
  summary: 'Changes projects to match a directory of YAML files.',
  operands: ['<directory>'],
  options: {
    prune: { type: 'boolean', description: 'delete resources that the files lack' },
    'secrets-to': {
      type: 'string',
      value: 'file',
      description: 'new file for the secrets of new applications and webhooks',
    },
  },
  notes: [
    'All files are checked first. Each project is one transaction; settings that a file lacks are unchanged.',
    'Without --secrets-to, issue keys of new applications and webhooks in the console.',
  ],
  async run(input, context) {
    const path = input.text('secrets-to');
    return withInstance(context, async (opened) => {
      const files = wantedIn(input.operands[0] as string, context, opened);
      const keep = path === undefined ? null : secretsFile(resolve(path));
      try {
        for (const { name, wanted, references } of files) {
          opened.interrupted.throwIfAborted();
          const options = {
            ...{ prune: input.flag('prune'), actor: system },
            keep: (secrets: readonly CreatedSecrets[]) =>
              keep?.write(secrets.map((one) => ({ project: wanted.slug, ...one }))),
          };
          const changes = await opened.services.configurations.apply(wanted, options).catch((error: unknown) => {
            // Any other fault may have come after the commit.
            if (error instanceof Refusal) keep?.undo();
            else keep?.confirm();
            throw named(name, error);
          });
          keep?.confirm();
          context.print(`${name}: ${changes.length === 0 ? 'no changes' : `${changes.length} changed`}`);
          for (const line of linesOf(changes, references)) context.print(line);
        }
      } finally {
        keep?.close();
      }
      return 0;
    });
  },
};

/**
 * JSON lines, readable only by the owner. They are on disk before the transaction that creates their resources commits;
 * those of a failed transaction are removed. An empty file is deleted.
 */
function secretsFile(path: string) {
  const file = opened(path);
  let [length, confirmed] = [0, 0];
  return {
    write(secrets: readonly object[]) {
      if (secrets.length === 0) return;
      try {
        const bytes = Buffer.from(secrets.map((one) => `${JSON.stringify(one)}\n`).join(''));
        for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
        fsyncSync(file);
        length = confirmed + bytes.length;
      } catch (error) {
        ftruncateSync(file, confirmed);
        throw unwritable(path, error);
      }
    },
    confirm() {
      confirmed = length;
    },
    undo() {
      ftruncateSync(file, confirmed);
    },
    close() {
      closeSync(file);
      if (confirmed === 0) rmSync(path);
    },
  };
}

function opened(path: string): number {
  try {
    const file = openSync(path, 'wx', 0o600);
    // Syncs the folder, so that the name of the file survives a power failure, too.
    const folder = openSync(dirname(path), 'r');
    fsyncSync(folder);
    closeSync(folder);
    return file;
  } catch (error) {
    throw new UsageError(`${path} cannot be created (${(error as NodeJS.ErrnoException).code})`);
  }
}
