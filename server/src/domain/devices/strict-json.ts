/**
 * Parses JSON (RFC 8259) whose objects name each member once. Two parsers may disagree about which of two members
 * counts, so a text that leaves the choice is refused. Throws SyntaxError.
 */
export function parseStrictJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const members: Set<string>[] = [];
  // In a text that has parsed, a string before a colon is a member's name, and a brace outside a string is an object's.
  for (const [token, colon] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/g)) {
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
