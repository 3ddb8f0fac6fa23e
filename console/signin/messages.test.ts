import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { wait } from './countdown.ts';
import { fill } from './texts.ts';

const folder = new URL('./', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, folder), 'utf8');
const languages = ['de', 'en', 'es', 'fr', 'ja'];
const messages = (language: string) => JSON.parse(read(`messages/${language}.json`)) as Record<string, string>;
const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();
const english = messages('en');

describe('texts of the sign-in page', () => {
  it('exist in English, German, Spanish, French and Japanese', () => {
    expect(readdirSync(new URL('messages/', folder)).sort()).toEqual(languages.map((language) => `${language}.json`));
  });

  it.each(languages)('in %s have all keys in the same order and no empty value', (language) => {
    expect(Object.keys(messages(language))).toEqual(Object.keys(english));
    for (const text of Object.values(messages(language))) expect(text.trim()).not.toBe('');
  });

  it.each(languages)('in %s have the English placeholders', (language) => {
    for (const [key, text] of Object.entries(messages(language)))
      expect([key, ...placeholders(text)]).toEqual([key, ...placeholders(english[key]!)]);
  });

  const within = (part: string) => readdirSync(new URL(part, folder)).map((name) => `${part}${name}`);
  const names = [...readdirSync(folder), ...within('device/'), ...within('flow/'), ...within('plain/')];
  const html = names.filter((name) => name.endsWith('.html'));
  it.each(html)('cover every text of %s', (page) => {
    const asked = [...read(page).matchAll(/%\{t:([\w.]+)\}/g)].map(([, key]) => key!);
    expect(asked.filter((key) => !(key in english))).toEqual([]);
    // The server fills two names; the script fills the others.
    for (const key of asked)
      expect(placeholders(english[key]!).filter((p) => !/^\{(app|project)\}$/.test(p))).toEqual([]);
  });

  it('are all used', () => {
    const sources = names.filter((name) => /\.(html|ts)$/.test(name) && !name.endsWith('.test.ts'));
    const everything = sources.map(read).join('\n');
    // Keys built from parts, or chosen by the server.
    const indirect =
      /^(page\.(help|privacy|terms)|setup\.closed\w*|confirm\.\w+|problem\.(code|codeSpent|codeTotp|noAccess|recovery)|error\.\w+|account\.\w+|device\.\w+|scope\.\w+|status\.\w+|consent\.(as|returns)|noAccess\.(ask|askSupport|support|back)|logout\.unregistered)$/;
    expect(Object.keys(english).filter((key) => !everything.includes(key) && !indirect.test(key))).toEqual([]);
  });
});

describe('a filled text', () => {
  it('keeps unknown placeholders and never expands a value', () => {
    expect(fill({ a: '{app} {other}' }, 'a', { app: '{other}' })).toBe('{other} {other}');
    expect(fill({}, 'missing.key')).toBe('missing.key');
  });

  it.each([
    [27, 'en', '27 seconds'],
    [100, 'en', '2 minutes'],
    [3600, 'de', '60 Minuten'],
    [86_400, 'fr', '24 heures'],
  ])('formats a wait of %d seconds in %s as %s', (seconds, language, words) => {
    expect(wait(seconds, language).replace('\u00a0', ' ')).toBe(words);
  });
});
