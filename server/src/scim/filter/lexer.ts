/** A token of a filter or path. `word` is an attribute's name, an operator, a number, `true`, `false` or `null`. */
export type Token =
  | { kind: 'word'; text: string; at: number }
  | { kind: 'string'; value: string; at: number }
  | { kind: '(' | ')' | '[' | ']'; at: number }
  | { kind: 'end'; at: number };

/** A syntax error in a filter or path, with its position. */
export class FilterFault extends Error {
  constructor(reason: string, at: number) {
    super(`${reason} (at position ${at + 1})`);
    this.name = 'FilterFault';
  }
}

const brackets = ['(', ')', '[', ']'] as const;
const space = /[ \t\r\n]/;
const word = /[A-Za-z0-9_$:.+-]*/y;
/** A JSON string; JSON.parse checks its escapes. */
const quoted = /"(?:[^"\\]|\\.)*"/sy;

/** Splits a text into tokens. Throws {@link FilterFault}. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text[at] as string;
    const bracket = brackets.find((each) => each === character);
    if (space.test(character)) at += 1;
    else if (bracket) tokens.push({ kind: bracket, at: at++ });
    else if (character === '"') {
      const literal = match(quoted, text, at);
      if (literal === '') throw new FilterFault('The string is not closed', at);
      tokens.push({ kind: 'string', value: unquote(literal, at), at });
      at += literal.length;
    } else {
      const found = match(word, text, at);
      if (found === '') throw new FilterFault('Unexpected character', at);
      tokens.push({ kind: 'word', text: found, at });
      at += found.length;
    }
  }
  tokens.push({ kind: 'end', at });
  return tokens;
}

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

function unquote(literal: string, at: number): string {
  try {
    return JSON.parse(literal) as string;
  } catch {
    throw new FilterFault('The string is not valid JSON', at);
  }
}
