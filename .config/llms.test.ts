import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { llmsFiles } from './lib/llms.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { index, full } = llmsFiles();
const pages = readdirSync(join(root, 'server/docs')).filter((name) => name.endsWith('.md') && name !== 'README.md');

describe('llms.txt', () => {
  it('matches the documentation: run `npm run gen` after a change', () => {
    expect(readFileSync(join(root, 'server/docs/llms.txt'), 'utf8')).toBe(index);
  });

  it('lists each page of the documentation with its title, and has no broken links', () => {
    const links = [...index.matchAll(/\[(.+?)\]\(([^)]+)\)/g)];
    for (const [, title, path = ''] of links) {
      expect(existsSync(join(root, 'server/docs', path)), path).toBe(true);
      expect(title).not.toBe('undefined');
    }
    const listed = links.map(([, , path]) => path);
    expect(pages.filter((name) => !listed.includes(name))).toEqual([]);
  });

  it('has the whole text of each page in llms-full.txt', () => {
    const paths = ['README.md', 'CHANGELOG.md', 'shared/node/README.md', ...pages.map((name) => `server/docs/${name}`)];
    expect(paths.filter((path) => !full.includes(readFileSync(join(root, path), 'utf8').trim()))).toEqual([]);
  });
});
