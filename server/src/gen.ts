/**
 * Writes the generated files (`npm run gen`). With `--check`, lists stale files and exits with 1. Paths are relative to
 * the repository root.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageFolder } from './adapters/system/package-folder.ts';
import { printAdminSchema, printPermissions } from './admin/schema.ts';
import { renderConfigMarkdown } from './config.ts';
import { baseIssuer, projectIssuer } from './domain/projects/issuer.ts';
import { webhookSchema } from './domain/webhooks/payload.ts';
import { discoveryDocument } from './oidc/discovery.ts';

const base = baseIssuer('https://id.example.com');
const ofProject = projectIssuer(base.url, { id: '', slug: 'example' });

const generated: Record<string, string> = {
  'server/config.md': renderConfigMarkdown(),
  'server/src/domain/webhooks/generated/event.schema.json': `${JSON.stringify(webhookSchema(), null, 2)}\n`,
  'server/src/admin/permissions.txt': printPermissions(),
  'server/src/admin/schema.graphql': printAdminSchema(),
  'server/src/oidc/generated/openid-configuration-of-project.json': `${JSON.stringify(discoveryDocument(ofProject), null, 2)}\n`,
  'server/src/oidc/generated/openid-configuration.json': `${JSON.stringify(discoveryDocument(base), null, 2)}\n`,
};

const root = join(packageFolder, '..');
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
