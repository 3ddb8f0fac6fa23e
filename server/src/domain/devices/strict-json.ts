/** Valid proofs nest four deep. */
const deepest = 32;

/**
 * Parses JSON (RFC 8259) whose objects name each member once. Two parsers may disagree about which of two members
 * counts, so a text that leaves the choice is refused, and so is one that nests deeper than 32. Throws SyntaxError.
 */
export function parseStrictJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const members: Set<string>[] = [];
  let depth = 0;
  // In a text that has parsed, a string before a colon is a member's name, and a brace outside a string is an object's.
  for (const [token, colon] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g)) {
    if (token === '{' || token === '[') {
      depth += 1;
      if (depth > deepest) throw new SyntaxError('It nests too deep.');
    } else if (token === '}' || token === ']') depth -= 1;
    if (token === '{') members.push(new Set());
    else if (token === '}') members.pop();
    else if (colon !== undefined) {
      const name: string = JSON.parse(token.slice(0, -colon.length));
      const seen = members.at(-1);
      if (seen?.has(name)) throw new SyntaxError('An object names a member twice.');
      seen?.add(name);
    }
  }
  return value;
}
