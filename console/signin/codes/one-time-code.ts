/** Format of the field: six digits, the long format, or a recovery code (any text). */
export type CodeFormat = 'digits' | 'long' | 'recovery';

/** A format of fixed length: `clean` normalizes typed text, `find` extracts the code from pasted text. */
type FixedFormat = { length: number; clean(text: string): string; find(text: string): string | undefined };

const only = (groups: RegExpMatchArray | null): string | undefined => (groups?.length === 1 ? groups[0] : undefined);

/** Digits of any script, which the service reads. */
const digits: FixedFormat = {
  length: 6,
  clean: (text) => text.normalize('NFKC').replace(/\P{Nd}/gu, ''),
  find: (text) =>
    only(text.normalize('NFKC').match(/(?<!\p{Nd})\p{Nd}(?:[\s-]?\p{Nd}){5}(?!\p{Nd})/gu))?.replace(/\P{Nd}/gu, ''),
};

/** Crockford base32: ambiguous letters are read as digits. */
const long: FixedFormat = {
  length: 10,
  clean: (text) =>
    text
      .normalize('NFKC')
      .toUpperCase()
      .replace(/O/g, '0')
      .replace(/[IL]/g, '1')
      .replace(/[^0-9A-TV-Z]/g, ''),
  find(text) {
    // Words can have ten letters: within a sentence, only the dash marks a code.
    const whole = text.normalize('NFKC').replace(/[\s-]/g, '');
    const code = /^[0-9A-TV-Z]{10}$/i.test(whole)
      ? whole
      : only(text.normalize('NFKC').match(/(?<![\w-])[0-9A-TV-Z]{5}-[0-9A-TV-Z]{5}(?![\w-])/gi));
    return code && long.clean(code);
  },
};

const formats: Partial<Record<CodeFormat, FixedFormat>> = { digits, long };

/**
 * The only code in pasted text, normalized: "Your code is 123-456.", "7k3qx-9m2hd", full-width digits. Undefined if
 * there is none or more than one.
 */
export const findCode = (text: string, format: CodeFormat): string | undefined => formats[format]?.find(text);

/** Typed text, normalized and cut to the code's length. */
export function cleanCode(text: string, format: CodeFormat): string {
  const fixed = formats[format];
  return fixed ? [...fixed.clean(text)].slice(0, fixed.length).join('') : text.trim();
}

export const formatOf = (field: HTMLInputElement): CodeFormat => field.dataset['format'] as CodeFormat;

/** Whether a code of fixed length is complete. */
export function isComplete(field: HTMLInputElement): boolean {
  const format = formatOf(field);
  return [...cleanCode(field.value, format)].length === formats[format]?.length;
}

/**
 * Restricts a field to its format and calls `complete` once per complete code. Returns a reset: the next code counts as
 * new even if equal.
 */
export function watchCode(field: HTMLInputElement, complete: () => void): () => void {
  let last = '';
  const settle = (code: string) => {
    field.value = code;
    if (isComplete(field) && code !== last) complete();
    last = code;
  };
  field.addEventListener('paste', (event) => {
    const code = findCode(event.clipboardData?.getData('text') ?? '', formatOf(field));
    if (!code) return;
    event.preventDefault();
    settle(code);
  });
  field.addEventListener('input', (event) => {
    const format = formatOf(field);
    if (!formats[format] || (event as InputEvent).isComposing) return;
    const { value } = field;
    settle(findCode(value, format) ?? cleanCode(value, format));
  });
  return () => {
    last = '';
  };
}
