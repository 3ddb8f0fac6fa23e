import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { llmsFiles } from './lib/llms.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const files: Record<string, string> = llmsFiles();
const pages = readdirSync(join(root, 'server/docs')).filter((name) => name.endsWith('.md') && name !== 'README.md');

describe('llms.txt', () => {
  it.each(Object.keys(files))('%s matches the documentation: run `npm run gen` after a change', (path) => {
    const isCurrent = readFileSync(join(root, path), 'utf8') === files[path];
    expect(isCurrent, `${path} is out of date: run npm run gen`).toBe(true);
  });

  it('lists each page of the documentation with its title, and has no broken links', () => {
    const links = [...(files['server/docs/llms.txt'] ?? '').matchAll(/\[(.+?)\]\(([^)]+)\)/g)];
    for (const [, title, path = ''] of links) {
      expect(existsSync(join(root, 'server/docs', path)), path).toBe(true);
      expect(title).not.toBe('undefined');
    }
    const listed = links.map(([, , path]) => path);
    expect(pages.filter((name) => !listed.includes(name))).toEqual([]);
  });

  it('has the whole text of each page in llms-full.txt', () => {
    const paths = ['README.md', 'CHANGELOG.md', 'shared/node/README.md', ...pages.map((name) => `server/docs/${name}`)];
    const text = files['server/docs/llms-full.txt'] ?? '';
    expect(paths.filter((path) => !text.includes(readFileSync(join(root, path), 'utf8').trim()))).toEqual([]);
  });
});
