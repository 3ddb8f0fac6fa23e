const arm = String.raw`(=\d+|zero|one|two|few|many|other) \{((?:[^{}]|\{\w+\})*)\}`;
const plurals = new RegExp(String.raw`\{(\w+), plural, ((?:${arm} ?)+)\}`, 'g');
const arms = new RegExp(arm, 'g');

/**
 * Fills an ICU message: `{name}`, and `{n, plural, one {…} other {…}}`, in which `#` is the number. Filled-in values are not
 * parsed again. A test compares it with `intl-messageformat`.
 */
export function formatMessage(
  text: string,
  language: string,
  values: Readonly<Record<string, string | number | undefined>>,
): string {
  return text
    .replace(plurals, (whole, name: string, forms: string) => {
      const value = Number(values[name]);
      if (Number.isNaN(value)) return whole;
      const found = new Map([...forms.matchAll(arms)].map(([, form = '', words = '']) => [form, words]));
      const chosen = found.get(`=${value}`) ?? found.get(new Intl.PluralRules(language).select(value));
      return (chosen ?? found.get('other') ?? '').replaceAll('#', new Intl.NumberFormat(language).format(value));
    })
    .replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
