import { readFileSync } from 'node:fs';
import { type Input, type Option, UsageError } from './command.ts';

const leastCharacters = 12;

/** What becomes of secrets in an export: one of the two has to be chosen. */
export const secretOptions = {
  'passphrase-file': {
    type: 'string',
    value: 'file',
    description: `secrets move too, sealed under the passphrase in this file (${leastCharacters} characters or more)`,
  },
  'without-secrets': {
    type: 'boolean',
    description: 'API keys, SCIM tokens, TOTP factors, recovery codes and our delegation keys stay behind',
  },
} as const satisfies Record<string, Option>;

/** The passphrase; null: secrets are left out. Throws `UsageError` where neither or both was chosen. */
export function chosenPassphrase(input: Input): string | null {
  const file = input.text('passphrase-file');
  if ((file !== undefined) === input.flag('without-secrets')) {
    throw new UsageError('choose one: --passphrase-file or --without-secrets');
  }
  if (file === undefined) return null;
  let passphrase: string;
  try {
    passphrase = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new UsageError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  if ([...passphrase].length < leastCharacters) {
    throw new UsageError(`a passphrase has at least ${leastCharacters} characters`);
  }
  return passphrase;
}
