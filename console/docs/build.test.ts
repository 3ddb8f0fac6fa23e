import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { buildDocs } from './build.ts';
import { searched } from './search.ts';

const { pages, search, llms } = buildDocs(fileURLToPath(new URL('../../', import.meta.url)));
const ids = new Map(
  pages.map(({ name, html }) => [
    `/docs${name && `/${name}`}`,
    new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id as string)),
  ]),
);
const resolves = (href: string) => {
  const [path = '', anchor] = href.split('#');
  return ids.has(path) && (anchor === undefined || ids.get(path)?.has(anchor));
};

describe('the pages of /docs', () => {
  it('begin with the overview, and have names and titles of their own', () => {
    expect(pages[0]).toMatchObject({ name: '', title: 'Running Latchkey' });
    expect(new Set(pages.map(({ name }) => name)).size).toBe(pages.length);
    for (const { title } of pages) expect(title).not.toBe('');
    expect(pages.length).toBeGreaterThan(25);
  });

  it.each(pages.map((page) => [page.name || 'overview', page] as const))('%s: its links resolve', (_, page) => {
    const links = [...page.html.matchAll(/href="([^"]+)"/g)].map(([, href]) => href as string);
    expect(
      links.filter((href) => !href.startsWith('https://') && !href.startsWith('http://') && !resolves(href)),
    ).toEqual([]);
    const inMarkdown = [...page.markdown.matchAll(/\]\((\/docs[^)]*)\)/g)].map(([, href]) => href as string);
    for (const href of inMarkdown) {
      const to = href.replace('/docs/README.md', '/docs').replace(/\.md(?=#|$)/, '');
      expect(resolves(to), href).toBe(true);
    }
  });

  it('have no markup of their authors, comments included', () => {
    for (const { name, html } of pages) {
      const tags = html.match(/<[^>]*>/g) ?? [];
      const unsafe = tags.filter((tag) => /^<(?:!|script|style|img|iframe)|\son\w+=|javascript:/i.test(tag));
      expect(unsafe, name).toEqual([]);
    }
  });

  it('have one section for each anchor in the search, which finds products and settings', () => {
    for (const { path } of search) expect(resolves(path), path).toBe(true);
    expect(searched(search, 'grafana')[0]).toMatchObject({ path: '/docs/products#grafana', title: 'Grafana' });
    expect(searched(search, 'SCIM_RATE')).toEqual(expect.any(Array));
    expect(searched(search, 'app bridge nothing of this')).toEqual([]);
  });

  it('are listed for language models, by their Markdown', () => {
    const links = [...llms.matchAll(/\]\((\/docs[^)]*)\)/g)].map(([, href]) => href as string);
    expect(links).toContain('/docs/products.md');
    for (const href of links)
      expect(resolves(href.replace('/docs/README.md', '/docs').replace(/\.md$/, '')), href).toBe(true);
  });
});
