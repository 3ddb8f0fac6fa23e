/** Values of a message, by the names of its arguments. */
export type Values = Readonly<Record<string, string | number | null | undefined>>;

const number = new Intl.NumberFormat('en-GB');
const arm = '((?:[^{}]|\\{\\w+(?:, number)?\\})*)';
const plurals = new RegExp(`\\{(\\w+), plural, (?:=0 \\{${arm}\\} )?one \\{${arm}\\} other \\{${arm}\\}\\}`, 'g');

/**
 * Fills in an English message. English uses a part of ICU only, so that it needs no parser: `{name}`, `{size, number}` and
 * `{n, plural, one {…} other {…}}`, optionally with `=0 {…}` first. A test compares it with the library.
 */
export function formatEnglish(text: string, values: Values): string {
  return text
    .replace(plurals, (_, name: string, none: string | undefined, one: string, other: string) => {
      const value = Number(values[name]);
      const chosen = value === 0 && none !== undefined ? none : value === 1 ? one : other;
      return chosen.replaceAll('#', number.format(value));
    })
    .replace(/\{(\w+)(, number)?\}/g, (_, name: string, isNumber) =>
      isNumber ? number.format(Number(values[name])) : String(values[name] ?? ''),
    );
}
