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
  const entry = () => {
    const page = output.find(({ fileName }) => fileName === 'admin/index.html') as { source: string };
    return /src="\/(assets\/[\w.-]+\.js)"/.exec(page.source)?.[1] as string;
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

  it('loads at most 220 KB gzip of script before its first page', () => {
    expect(weigh(closure(entry()))).toBeLessThanOrEqual(220_000);
  });

  it('loads each further page or tab on demand, in at most 30 KB', () => {
    const first = closure(entry());
    const pages = new Set<string>();
    const fetchedFrom = (names: Iterable<string>) => {
      for (const page of [...names].flatMap((name) => chunk(name).dynamicImports)) {
        if (pages.has(page) || first.has(page)) continue;
        pages.add(page);
        fetchedFrom(closure(page));
      }
    };
    fetchedFrom(first);
    expect(pages.size).toBeGreaterThan(12);
    for (const page of pages) {
      const more = [...closure(page)].filter((name) => !first.has(name));
      expect(weigh(more), page).toBeLessThanOrEqual(30_720);
    }
  });
});
