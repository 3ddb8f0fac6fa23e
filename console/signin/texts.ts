/** Texts of one language by key. */
export type Texts = Record<string, string>;

/** Fetches the texts at `url`; on failure the page shows the keys. */
export async function fetchTexts(url: string): Promise<Texts> {
  try {
    return (await (await fetch(url)).json()) as Texts;
  } catch {
    return {};
  }
}

/** The text of `key` with placeholders filled. */
export function fill(texts: Texts, key: string, values: Record<string, string> = {}): string {
  return (texts[key] ?? key).replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** The text of `key` as nodes, with filled values in bold. */
export function fillBold(texts: Texts, key: string, values: Record<string, string>): (string | Element)[] {
  return (texts[key] ?? key).split(/\{(\w+)\}/).map((part, index) => {
    if (index % 2 === 0) return part;
    const bold = document.createElement('strong');
    bold.textContent = values[part] ?? part;
    return bold;
  });
}
