import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

describe('the console', () => {
  let output: Rolldown.RolldownOutput['output'];
  beforeAll(async () => {
    // Vitest's own NODE_ENV would bundle React's development build.
    vi.stubEnv('NODE_ENV', 'production');
    const built = await build({ configFile: path('../vite.config.ts'), logLevel: 'silent', build: { write: false } });
    output = ([built].flat()[0] as Rolldown.RolldownOutput).output;
  });

  afterAll(() => vi.unstubAllEnvs());

  const chunk = (name: string) => {
    const found = output.find(({ fileName }) => fileName === name);
    if (found?.type !== 'chunk') throw new Error(`${name} is not a script`);
    return found;
  };
  /** The scripts of the page, and their static imports. */
  const firstChunks = () => {
    const page = output.find(({ fileName }) => fileName === 'admin/index.html') as { source: string };
    const scripts = [...page.source.matchAll(/src="\/(assets\/[\w.-]+\.js)"/g)].map(([, name]) => name as string);
    const found = new Set<string>();
    for (const script of scripts) closure(script, found);
    return found;
  };
  /** A chunk and its static imports, transitively. */
  const closure = (name: string, found = new Set<string>()): Set<string> => {
    if (!found.has(name)) {
      found.add(name);
      for (const next of chunk(name).imports) closure(next, found);
    }
    return found;
  };
  const weigh = (names: Iterable<string>) =>
    [...names].reduce((sum, name) => sum + gzipSync(chunk(name).code, { level: 9 }).length, 0);

  /** A catalog, or the library that reads it. */
  const isLanguage = (name: string) => chunk(name).moduleIds.some((id) => id.includes('/admin/language/'));

  const isAreaCatalog = (name: string) =>
    chunk(name).moduleIds.some((id) => /\/admin\/language\/messages\/\w+\/\w+\.json/.test(id));

  it('keeps its modules and libraries out of the chunks of the hosted pages', () => {
    const pages = output.filter(({ fileName }) => fileName.endsWith('.html') && !fileName.startsWith('admin/'));
    expect(pages.length).toBeGreaterThan(5);
    const loaded = new Set<string>();
    const load = (name: string) => {
      if (loaded.has(name)) return;
      loaded.add(name);
      for (const next of [...chunk(name).imports, ...chunk(name).dynamicImports]) load(next);
    };
    for (const page of pages) {
      const { source } = page as { source: string };
      // `early-1.js` has no imports (vite.config.ts).
      for (const [, script] of source.matchAll(/src="\/(assets\/(?!early-)[\w.-]+\.js)"/g)) load(script as string);
    }
    expect(loaded.size).toBeGreaterThan(5);
    const modules = [...loaded].flatMap((name) => chunk(name).moduleIds);
    expect(modules.filter((id) => /node_modules|console\/admin\//.test(id))).toEqual([]);
  });

  it('loads at most 222 KB gzip of script before its first page', () => {
    expect(weigh(firstChunks())).toBeLessThanOrEqual(222_000);
  });

  it('loads each further page or tab on demand, in at most 32 KB', () => {
    const first = firstChunks();
    const pages = new Set<string>();
    const fetchedFrom = (names: Iterable<string>) => {
      for (const page of [...names].flatMap((name) => chunk(name).dynamicImports)) {
        if (pages.has(page) || first.has(page) || isLanguage(page)) continue;
        pages.add(page);
        fetchedFrom(closure(page));
      }
    };
    fetchedFrom(first);
    expect(pages.size).toBeGreaterThan(12);
    for (const page of pages) {
      const more = [...closure(page)].filter((name) => !first.has(name));
      // Only this page loads the editor and the schema reader.
      const limit = page.includes('explorer-page') ? 190_000 : 32_768;
      expect(weigh(more), page).toBeLessThanOrEqual(limit);
    }
  });

  it('loads the texts of a part with the part, in at most 6 KB for each', () => {
    const areas = output.filter(({ fileName, type }) => type === 'chunk' && isAreaCatalog(fileName));
    expect(areas.length % 4).toBe(0);
    expect(areas.length).toBeGreaterThan(0);
    const first = firstChunks();
    for (const { fileName } of areas) {
      expect(weigh([fileName]), fileName).toBeLessThanOrEqual(6_000);
      const loading = output.filter((one) => one.type === 'chunk' && one.dynamicImports.includes(fileName));
      expect(loading.filter((one) => first.has(one.fileName))).toEqual([]);
    }
  });

  it('loads a language other than English in at most 80 KB, Japanese in 82, and nothing for English', () => {
    const first = firstChunks();
    const languages = [...first].flatMap((name) => chunk(name).dynamicImports).filter((name) => isLanguage(name));
    const catalogs = languages.filter((name) => /\/(?:de|es|fr|ja)-/.test(name));
    expect(catalogs).toHaveLength(4);
    const library = languages.filter((name) => !catalogs.includes(name));
    for (const catalog of catalogs) {
      // Japanese characters have three bytes each: its texts of impersonation and assertions between companies need more.
      const limit = catalog.includes('/ja-') ? 82_000 : 80_000;
      expect(weigh([catalog, ...library]), catalog).toBeLessThanOrEqual(limit);
    }
    expect([...first].flatMap((name) => chunk(name).moduleIds).join()).not.toContain('intl-messageformat');
  });
});
