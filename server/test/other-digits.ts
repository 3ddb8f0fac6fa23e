const withDigits = (zero: number) => (code: string) =>
  code.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));

/** A code in Arabic-Indic digits. */
export const arabicIndic = withDigits(0x0660);

/** A code in the full-width form of all its characters. */
export const fullWidth = (code: string): string =>
  code.replace(/[!-~]/g, (character) => String.fromCodePoint(character.charCodeAt(0) + 0xfee0));
