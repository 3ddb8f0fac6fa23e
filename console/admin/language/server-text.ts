import type { Values } from './english.ts';

/**
 * Translates texts of the server, which are in English (decisions/0183). Keys of the catalog have `{0}`, `{1}` … where the
 * server writes values; a value that is a text of the server itself is translated, too.
 */
export function serverTranslator(
  messages: Readonly<Record<string, string>>,
  format: (text: string, values: Values) => string,
): (text: string) => string {
  // The most specific pattern first.
  const patterns = Object.keys(messages)
    .filter((key) => /\{\d\}/.test(key))
    .sort((one, other) => other.length - one.length)
    .map((key) => [key, patternOf(key)] as const);
  return function translate(text): string {
    const whole = messages[text];
    if (whole) return whole;
    for (const [key, pattern] of patterns) {
      const values = pattern.exec(text)?.slice(1).map(translate);
      if (values) return format(messages[key] || key, Object.fromEntries(values.entries()));
    }
    return text;
  };
}

function patternOf(key: string): RegExp {
  const literals = key.split(/\{\d\}/).map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
  return new RegExp(`^${literals.join('(.+?)')}$`, 's');
}
