import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Rolldown, type UserConfig } from 'vite';
import { beforeAll, describe, expect, it } from 'vitest';
import { pageLanguages } from '../.config/lib/page-languages.mjs';
import config from './vite.config.ts';

type Output = Rolldown.RolldownOutput['output'];
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const weigh = (texts: string[]) => texts.reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0);

describe('the browser SDK', () => {
  it.each([
    ['index.ts', 10_000],
    ['elements/index.ts', 25_000],
  ])('in %s weighs at most %d bytes gzip, as it is served, and has no dependencies', async (entry, limit) => {
    const input = path(`../shared/browser/src/${entry}`);
    // As in .config/pack.mjs. Not as a library: Vite keeps the whitespace of libraries that are ES modules.
    const rolldownOptions = { input, preserveEntrySignatures: 'strict' as const };
    const options = { write: false, target: 'es2022', modulePreload: false as const, rolldownOptions };
    const built = await build({ configFile: false, logLevel: 'silent', build: options });
    const { output } = [built].flat()[0] as Rolldown.RolldownOutput;
    expect(output).toHaveLength(1);
    expect(output[0].imports).toEqual([]);
    expect(weigh([output[0].code])).toBeLessThanOrEqual(limit);
  });
});

describe('the hosted sign-in page', () => {
  let output: Output;
  beforeAll(async () => {
    const { build: options, ...rest } = config as UserConfig;
    // The console has its own budget.
    const input = (options!.rolldownOptions!.input as string[]).filter((page) => !page.includes('/admin/'));
    // With the chunks of the build.
    const only = { ...options, write: false, rolldownOptions: { ...options!.rolldownOptions, input } };
    const built = await build({ ...rest, configFile: false, logLevel: 'silent', build: only });
    output = ([built].flat()[0] as Rolldown.RolldownOutput).output;
  });
  const html = (name: string) =>
    String((output.find(({ fileName }) => fileName === name) as { source: string }).source);
  const pages = () => output.map(({ fileName }) => fileName).filter((name) => name.endsWith('.html'));

  it('loads under 16 KB gzip of script, the SDK’s core included, the QR code excluded', () => {
    const chunks = new Map(output.flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file] as const] : [])));
    const [, entry] = /<script type="module"[^>]* src="\/(assets\/[\w.-]+\.js)"/.exec(
      html('signin/index.html'),
    ) as unknown as [string, string];
    const loaded = new Set<string>();
    const load = (name: string) => {
      if (loaded.has(name)) return;
      loaded.add(name);
      for (const next of chunks.get(name)!.imports) load(next);
    };
    load(entry);
    const codes = [...loaded].map((name) => chunks.get(name)!.code);
    expect(weigh(codes)).toBeLessThan(16_000);
    expect(codes.join('')).not.toContain('too long for a QR code');
  });

  it('keeps every page free of inline script, inline style and event handlers, and its files under /assets/', () => {
    expect(pages()).toContain('demo/index.html');
    for (const name of pages()) {
      const page = html(name);
      expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|["'(](javascript|data):/i);
      for (const [, attributes, body] of page.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)) {
        expect(attributes).toMatch(/src="\/assets\//);
        expect(body).toBe('');
      }
      for (const [, url] of page.matchAll(/<link[^>]* href="([^"]*)"/g))
        expect(url).toMatch(/^(\/assets\/|%\{messages\})/);
    }
  });

  it('emits the texts of each language beside the pages', () => {
    const names = output.map(({ fileName }) => fileName).filter((name) => name.startsWith('messages/'));
    expect(names.sort()).toEqual(pageLanguages.map((language) => `messages/${language}.json`).sort());
  });
});
