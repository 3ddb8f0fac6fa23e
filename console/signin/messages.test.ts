import { readdirSync, readFileSync } from 'node:fs';
import { IntlMessageFormat } from 'intl-messageformat';
import { describe, expect, it } from 'vitest';
import { pageLanguages } from '../../.config/lib/page-languages.mjs';
import { wait } from './countdown.ts';
import { fill } from './texts.ts';

const folder = new URL('./', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, folder), 'utf8');
const languages = [...pageLanguages].sort();
const messages = (language: string) => JSON.parse(read(`messages/${language}.json`)) as Record<string, string>;
/** Arguments of an ICU message, each once. */
function argumentsOf(text: string): string[] {
  const names = new Set<string>();
  const visit = (parts: ReturnType<IntlMessageFormat['getAst']>) => {
    for (const part of parts) {
      if (part.type !== 0 && part.type !== 7 && 'value' in part) names.add(part.value);
      if ('options' in part) for (const { value } of Object.values(part.options)) visit(value);
    }
  };
  visit(astOf(text));
  return [...names].sort();
}
const astOf = (text: string) => new IntlMessageFormat(text, 'en', undefined, { ignoreTag: true }).getAst();
/** The plural forms of whole numbers. */
const formsOf = (language: string) => {
  const rules = new Intl.PluralRules(language);
  return [...new Set(Array.from({ length: 200 }, (_, n) => rules.select(n)))].sort();
};
const english = messages('en');

/** ICU requires `other`, although Polish and Russian have no whole number of this form. */
const withOther = (language: string) => [...new Set([...formsOf(language), 'other'])].sort();

describe('texts of the sign-in page', () => {
  it('exist in 19 languages', () => {
    expect(languages).toHaveLength(19);
  });

  it.each(languages)('in %s have all keys in the same order and no empty value', (language) => {
    expect(Object.keys(messages(language))).toEqual(Object.keys(english));
    for (const text of Object.values(messages(language))) expect(text.trim()).not.toBe('');
  });

  it.each(languages)('in %s are ICU messages with the English arguments', (language) => {
    for (const [key, text] of Object.entries(messages(language)))
      expect([key, ...argumentsOf(text)]).toEqual([key, ...argumentsOf(english[key]!)]);
  });

  it.each(languages)('in %s have each plural form of the language', (language) => {
    for (const [key, text] of Object.entries(messages(language)))
      for (const part of astOf(text))
        if ('options' in part)
          expect([key, ...Object.keys(part.options).sort()]).toEqual([key, ...withOther(language)]);
  });

  it.each(languages)('in %s have plural forms only where the server fills them', (language) => {
    const plural = Object.entries(messages(language)).filter(([, text]) => text.includes(', plural,'));
    expect(plural.map(([key]) => key).filter((key) => !/^(account|mail)\./.test(key))).toEqual([]);
  });

  const within = (part: string) => readdirSync(new URL(part, folder)).map((name) => `${part}${name}`);
  const names = [...readdirSync(folder), ...within('device/'), ...within('flow/'), ...within('plain/')];
  const html = names.filter((name) => name.endsWith('.html'));
  it.each(html)('cover every text of %s', (page) => {
    const asked = [...read(page).matchAll(/%\{t:([\w.]+)\}/g)].map(([, key]) => key!);
    expect(asked.filter((key) => !(key in english))).toEqual([]);
    // The server fills two names; the script fills the others.
    for (const key of asked)
      expect(argumentsOf(english[key]!).filter((name) => !/^(app|project)$/.test(name))).toEqual([]);
  });

  it('are all used', () => {
    const sources = names.filter((name) => /\.(html|ts)$/.test(name) && !name.endsWith('.test.ts'));
    const everything = sources.map(read).join('\n');
    // Keys built from parts, or chosen by the server.
    const indirect =
      /^(page\.(help|privacy|terms)|setup\.closed\w*|confirm\.\w+|connect\.\w+|problem\.(networkLimit|addressLimit|code|codeSpent|codeTotp|noAccess|recovery)|error\.\w+|account\.\w+|mail\.[\w.-]+|device\.\w+|scope\.\w+|status\.\w+|consent\.(as|returns|local|named|organization)|noAccess\.(ask|askSupport|support|back)|logout\.unregistered|signedOut\.unconfirmed)$/;
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
