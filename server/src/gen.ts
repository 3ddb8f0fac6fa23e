/**
 * Writes the generated files (`npm run gen`). With `--check`, lists stale files and exits with 1. Paths are relative to
 * the repository root.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { printAdminSchema, printPermissions } from './admin/schema.ts';
import { renderConfigMarkdown } from './config.ts';
import { discoveryDocument } from './oidc/discovery.ts';

const generated: Record<string, string> = {
  'server/config.md': renderConfigMarkdown(),
  'server/src/admin/permissions.txt': printPermissions(),
  'server/src/admin/schema.graphql': printAdminSchema(),
  'server/src/oidc/generated/openid-configuration.json': `${JSON.stringify(discoveryDocument('https://id.example.com'), null, 2)}\n`,
};

const root = join(import.meta.dirname, '../..');
const stale = Object.entries(generated).filter(([path, text]) => read(join(root, path)) !== text);
const checking = process.argv.includes('--check');
for (const [path, text] of stale) {
  if (!checking) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  process.stdout.write(`${path}${checking ? ' is stale: run npm run gen' : ''}\n`);
}
if (checking && stale.length > 0) process.exitCode = 1;

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
