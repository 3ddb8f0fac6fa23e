/** The fold of searches for names, used by the server, its database (`search_fold`) and the console. */

/** Letters without a decomposition in Unicode, and punctuation with several characters. */
const others: Record<string, string> = {
  ...{ ø: 'o', ł: 'l', đ: 'd', ħ: 'h', ŧ: 't', ð: 'd', þ: 'th', æ: 'ae', œ: 'oe' },
  ...Object.fromEntries([...'‘’‚‛′ʹʻʼ`´'].map((quote) => [quote, "'"])),
  ...Object.fromEntries([...'“”„‟″«»'].map((quote) => [quote, '"'])),
  ...Object.fromEntries([...'‐‒–—―−'].map((dash) => [dash, '-'])),
};

/** Marks that names are written with or without: accents, Hebrew points and Arabic vowels. Not those of Indic scripts or kana. */
const accent =
  // oxlint-disable-next-line no-misleading-character-class -- ranges of marks, none of them after a letter
  /^(?=\p{M})[\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]/u;
const invisible = /^\p{Default_Ignorable_Code_Point}/u;

/** @param character one code point of a text in NFKD */
function folded(character: string): string {
  if (accent.test(character) || invisible.test(character)) return '';
  // Unicode case folding: ß and ẞ become ss, ς becomes σ, ı becomes i.
  const plain = character.toLowerCase().toUpperCase().toLowerCase();
  return others[plain] ?? plain;
}

/**
 * A name for searches: texts that people read as the same name have the same fold. NFKC, Unicode case folding, one kind
 * of
 * quotes and hyphens, no accents. Never a key: it makes different users equal.
 */
export function searchFold(text: string): string {
  return Array.from(text.replaceAll('´', "'").normalize('NFKD'), folded).join('').normalize('NFC');
}
