import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { docsOf } from './docs-of.ts';

it.each([
  ['/projects/p/applications/0197', '/docs/project-issuers'],
  ['/projects/p/users/0197', '/docs/users'],
  ['/projects/p/directory', '/docs/directories'],
  ['/projects/p/organizations/0197', '/docs/organizations'],
  ['/projects/p/connections/0197', '/docs/connections'],
  ['/projects/p/overview', '/docs'],
  ['/projects', '/docs'],
  ['/keys', '/docs/rotation'],
  ['/system', '/docs/monitoring'],
])('%s is described by %s', (page, docs) => {
  expect(docsOf(page)).toBe(docs);
  const file = docs === '/docs' ? 'README' : docs.replace('/docs/', '');
  expect(existsSync(new URL(`../../../server/docs/${file}.md`, import.meta.url))).toBe(true);
});
