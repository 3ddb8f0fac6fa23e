/** Languages of pages and messages; the first is the fallback. */
export const locales = ['en', 'de', 'es', 'fr', 'ja'] as const;
export type Locale = (typeof locales)[number];

/**
 * Negotiates the language: `ui_locales` (BCP 47 tags in order of preference, OpenID Connect Core §3.1.2.1), then the
 * `Accept-Language` header (RFC 9110 §12.5.4), then English.
 */
export function chooseLocale(uiLocales: string | null | undefined, acceptLanguage: string | undefined): Locale {
  const requested = [...(uiLocales ?? '').slice(0, 200).split(' '), ...byWeight(acceptLanguage ?? '')];
  for (const tag of requested) {
    const language = tag.trim().toLowerCase().split('-', 1)[0];
    const locale = locales.find((one) => one === language);
    if (locale) return locale;
  }
  return 'en';
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
