import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { root } from './workspace.mjs';

const folder = 'server/docs';
const libraries = ['shared/browser/README.md', 'shared/react/README.md', 'shared/node/README.md'];

/**
 * The documentation for language models (llmstxt.org): `index`, the text of `server/docs/llms.txt`, and `full`, that of
 * `server/dist/llms-full.txt`, all pages in one. The pages are the README, those of the libraries, and those in the table of contents of
 * `server/docs`.
 */
export function llmsFiles(read = (path) => readFileSync(join(root, path), 'utf8')) {
  const readme = read('README.md');
  const [, , summary = ''] = readme.split('\n\n');
  const contents = [...read(`${folder}/README.md`).matchAll(/^\| (.+) \| \[[^\]]+\]\(([\w./-]+\.md)\) \|$/gm)];
  const topics = contents.map(([, about, name]) => ({ path: posix.join(folder, name), about }));
  const to = (path) => posix.relative(folder, path);
  const entry = ({ path, about }) => `- [${titleOf(read(path))}](${to(path)})${about ? `: ${about}` : ''}`;
  const all = ['README.md', ...libraries, ...topics.map(({ path }) => path)];
  const index = `# Latchkey

> ${summary.replaceAll('\n', ' ').replaceAll('**', '')}

Links are relative to this file. npm run gen writes all pages of the first two sections to server/dist/llms-full.txt.

## Start

- [README](${to('README.md')}): start the server, sign in, connect an application and a directory
${libraries.map((path) => entry({ path })).join('\n')}

## Documentation

${topics.map(entry).join('\n')}

## Reference

- [Settings](${to('server/config.md')}): every setting, with its default
- [REST interfaces](${to('server/docs/http-api.md')}): each instance describes them at /openapi.json (OpenAPI 3.1)
- [GraphQL schema](${to('server/src/admin/schema.graphql')}): the admin API
- [Events](${to('server/src/domain/nouns.ts')}): the types of audit events
`;
  const pages = all.map((path) => `Source: ${path}\n\n${read(path).trim()}\n`);
  return { index, full: pages.join('\n---\n\n') };
}

function titleOf(text) {
  return /^# (.+)$/m.exec(text)?.[1];
}
