const isDigit = (point: number) => /\p{Nd}/u.test(String.fromCodePoint(point));

/** The value of a decimal digit of any script: each script has ten in a row, from zero (Unicode, section 4.6). */
function digitOf(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  let above = 0;
  while (isDigit(point - above - 1)) above += 1;
  return String(above % 10);
}

/**
 * A typed code in upper case: full-width characters and the digits of any script as ASCII (NFKC), without spaces, dashes
 * and characters that do not show, such as direction marks.
 */
export function typedCode(typed: string): string {
  return typed
    .normalize('NFKC')
    .replace(/[\s\p{Pd}\u2212\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '')
    .replace(/\p{Nd}/gu, digitOf)
    .toUpperCase();
}
