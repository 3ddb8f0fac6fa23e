/** The texts of one language, by their keys. */
export type Texts = Record<string, string>;

/** Fetches the texts at `url`; without them the page still works and shows the keys. */
export async function fetchTexts(url: string): Promise<Texts> {
  try {
    return (await (await fetch(url)).json()) as Texts;
  } catch {
    return {};
  }
}

/** The text of `key`, its placeholders filled. */
export function fill(texts: Texts, key: string, values: Record<string, string> = {}): string {
  return (texts[key] ?? key).replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** The text of `key` as nodes, the filled values in bold: they are what the reader looks for. */
export function fillBold(texts: Texts, key: string, values: Record<string, string>): (string | Element)[] {
  return (texts[key] ?? key).split(/\{(\w+)\}/).map((part, index) => {
    if (index % 2 === 0) return part;
    const bold = document.createElement('strong');
    bold.textContent = values[part] ?? part;
    return bold;
  });
}

/** A wait in words: the largest unit that says enough. */
export function wait(seconds: number, language: string): string {
  const [value, unit] =
    seconds < 100 ? [seconds, 'second'] : seconds < 5400 ? [seconds / 60, 'minute'] : [seconds / 3600, 'hour'];
  const options = { style: 'unit', unit, unitDisplay: 'long' } as const;
  return new Intl.NumberFormat(language, options).format(Math.ceil(value));
}
