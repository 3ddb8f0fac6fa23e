import { type Locale, locales } from '../delivery/locale.ts';
import { isLine, mailTextFault } from '../kernel/name.ts';
import { refuse } from '../kernel/problem.ts';

/** A text that a project can customise. */
interface TextRule {
  kind: 'page' | 'link' | 'mail';
  /** Maximum characters. */
  max: number;
  /** Names of placeholders, written `{app}`. */
  placeholders: readonly string[];
}

const line = (max: number): TextRule => ({ kind: 'page', max, placeholders: ['app', 'project'] });
const link: TextRule = { kind: 'link', max: 500, placeholders: [] };
const subject = (...more: string[]): TextRule => ({
  kind: 'mail',
  max: 120,
  placeholders: ['app', 'project', ...more],
});
const intro: TextRule = { kind: 'mail', max: 300, placeholders: ['app', 'project'] };

/** Every text that can be set per language. Texts of security notices are fixed. */
export const textRules = {
  /** Title of the first page. */
  heading: line(80),
  /** The sentence below it. */
  subline: line(200),
  /** Footer of every page. */
  footer: line(200),
  supportUrl: link,
  privacyUrl: link,
  termsUrl: link,
  'sign-in-code.subject': subject('code'),
  'sign-in-code.intro': intro,
  'factor-code.subject': subject('code'),
  'factor-code.intro': intro,
  'new-device.subject': subject(),
  'new-device.intro': intro,
} as const satisfies Record<string, TextRule>;
export type TextKey = keyof typeof textRules;
const textKeys = Object.keys(textRules) as TextKey[];

/** A project's texts; absent: the standard text. */
export type Texts = Partial<Record<Locale, Partial<Record<TextKey, string>>>>;

/** The texts of one language. Links and the footer fall back to English. */
export function textsIn(texts: Texts, locale: Locale): Partial<Record<TextKey, string>> {
  const { footer, supportUrl, privacyUrl, termsUrl } = texts.en ?? {};
  const shared = { footer, supportUrl, privacyUrl, termsUrl };
  const given = Object.entries({ ...shared, ...texts[locale] }).filter(([, text]) => text !== undefined);
  return Object.fromEntries(given);
}

/** Validates texts: known languages and keys; trims them, drops empty ones. Refuses `invalid` (`texts.de.heading`). */
export function checkTexts(entries: readonly { locale: string; key: string; text: string }[]): Texts {
  const texts: Texts = {};
  for (const { locale, key, text } of entries) {
    const field = `texts.${locale}.${key}`;
    if (!isLocale(locale)) {
      refuse({ code: 'invalid', field: 'texts.locale', reason: `must be one of ${locales.join(', ')}` });
    }
    if (!isTextKey(key))
      refuse({ code: 'invalid', field: 'texts.key', reason: `must be one of ${textKeys.join(', ')}` });
    const clean = text.normalize('NFC').trim();
    if (clean === '') continue;
    checkText(field, textRules[key], clean);
    texts[locale] = { ...texts[locale], [key]: clean };
  }
  return texts;
}

function checkText(field: string, rule: TextRule, text: string): void {
  const invalid = (reason: string): never => refuse({ code: 'invalid', field, reason });
  if ([...text].length > rule.max) invalid(`must have at most ${rule.max} characters`);
  if (!isLine(text)) invalid('must be one line without control characters');
  if (rule.kind === 'link') {
    if (!isHttpsUrl(text)) invalid('must be a URL that begins with https://');
    return;
  }
  const known: readonly string[] = rule.placeholders;
  const unknown = [...text.matchAll(/\{(\w*)\}/g)].map(([, name = '']) => name).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    invalid(`can contain ${known.map((name) => `{${name}}`).join(', ')}, and nothing else in braces`);
  }
  if (rule.kind !== 'mail') return;
  const fault = mailTextFault(text);
  if (fault !== null) invalid(fault);
}

function isHttpsUrl(text: string): boolean {
  if (!/^https:\/\/[^\s"'<>\\^`{|}]+$/i.test(text) || !URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return protocol === 'https:' && username === '' && password === '';
}

function isLocale(text: string): text is Locale {
  return (locales as readonly string[]).includes(text);
}

function isTextKey(text: string): text is TextKey {
  return Object.hasOwn(textRules, text);
}
