import { continueLabels, locales } from './generated/languages.ts';

export { continueLabels, locales };
export type Locale = (typeof locales)[number];

/** Languages without a catalog of their own tag, by the one that their readers understand. */
const others: Record<string, string> = { iw: 'he', nn: 'nb', no: 'nb', pt: 'pt-BR', zh: 'zh-Hans' };
/** Written in traditional characters, for which there is no catalog. */
const traditional = /^zh-(?:hant|tw|hk|mo)(?:-|$)/;

const rightToLeft: readonly string[] = ['ar', 'he'];
export const directionOf = (locale: Locale): 'ltr' | 'rtl' => (rightToLeft.includes(locale) ? 'rtl' : 'ltr');

/**
 * Negotiates the language: `ui_locales` (BCP 47 tags in order of preference, OpenID Connect Core §3.1.2.1), then the
 * `Accept-Language` header (RFC 9110 §12.5.4), then English.
 */
export function chooseLocale(uiLocales: string | null | undefined, acceptLanguage: string | undefined): Locale {
  const requested = [...(uiLocales ?? '').slice(0, 200).split(' '), ...byWeight(acceptLanguage ?? '')];
  for (const tag of requested) {
    const locale = localeOf(tag);
    if (locale) return locale;
  }
  return 'en';
}

/** The language of a tag: its longest prefix that has a catalog (RFC 4647 §3.4). */
export function localeOf(tag: string): Locale | undefined {
  const subtags = tag.trim().toLowerCase().split('-');
  if (traditional.test(subtags.join('-'))) return undefined;
  for (let length = subtags.length; length > 0; length -= 1) {
    const prefix = subtags.slice(0, length).join('-');
    const locale = locales.find((one) => one.toLowerCase() === prefix);
    if (locale) return locale;
  }
  return locales.find((one) => one === others[subtags[0] ?? '']);
}

function byWeight(header: string): string[] {
  return header
    .slice(0, 200)
    .split(',')
    .map((range) => {
      const [tag = '', weight] = range.split(';q=');
      return { tag, weight: weight === undefined ? 1 : Number(weight) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag);
}
