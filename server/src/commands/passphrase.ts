import { readFileSync } from 'node:fs';
import { type Input, type Option, UsageError } from './command.ts';

const leastCharacters = 12;

/** Treatment of secrets in an export. Exactly one option is required. */
export const secretOptions = {
  'passphrase-file': {
    type: 'string',
    value: 'file',
    description: `include secrets, encrypted with the passphrase in this file (at least ${leastCharacters} characters)`,
  },
  'without-secrets': {
    type: 'boolean',
    description: 'leave out API keys, SCIM tokens, TOTP factors, recovery codes and Latchkey’s delegation keys',
  },
} as const satisfies Record<string, Option>;

/** The passphrase, or null without secrets. Throws `UsageError` if neither or both options are given. */
export function chosenPassphrase(input: Input): string | null {
  const file = input.text('passphrase-file');
  if ((file !== undefined) === input.flag('without-secrets')) {
    throw new UsageError('choose exactly one: --passphrase-file or --without-secrets');
  }
  if (file === undefined) return null;
  let passphrase: string;
  try {
    passphrase = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new UsageError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  if ([...passphrase].length < leastCharacters) {
    throw new UsageError(`the passphrase must have at least ${leastCharacters} characters`);
  }
  return passphrase;
}
