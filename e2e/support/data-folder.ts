import { execFileSync } from 'node:child_process';
import { lstatSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const variable = 'LATCHKEY_E2E_TEMPLATE';

/** Makes the data folder of a stopped server the template of {@link newDataFolder}, in this process and its children. */
export function useAsTemplate(folder: string): void {
  // A link leads to a database outside of the folder, which copies would share.
  if (!lstatSync(join(folder, 'postgres')).isSymbolicLink()) process.env[variable] = folder;
}

/** A data folder for a new server: a copy of the template if there is one, or empty. */
export function newDataFolder({ empty }: { empty: boolean }): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-e2e-'));
  const template = process.env[variable];
  // `-a` keeps the owner: PostgreSQL runs as a different user than root.
  if (template && !empty) execFileSync('cp', ['-a', `${template}/.`, folder]);
  return folder;
}
