/** Maximum nesting. Valid proofs nest four deep. */
const deepest = 32;

/**
 * Parses JSON (RFC 8259) and rejects duplicate member names, which parsers resolve differently, and nesting deeper than
 * 32. Throws SyntaxError.
 */
export function parseStrictJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const members: Set<string>[] = [];
  let depth = 0;
  // In valid JSON a string before a colon is a member name, and a brace outside a string belongs to an object.
  for (const [token, colon] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g)) {
    if (token === '{' || token === '[') {
      depth += 1;
      if (depth > deepest) throw new SyntaxError('nested too deep');
    } else if (token === '}' || token === ']') depth -= 1;
    if (token === '{') members.push(new Set());
    else if (token === '}') members.pop();
    else if (colon !== undefined) {
      const name: string = JSON.parse(token.slice(0, -colon.length));
      const seen = members.at(-1);
      if (seen?.has(name)) throw new SyntaxError('duplicate member');
      seen?.add(name);
    }
  }
  return value;
}
