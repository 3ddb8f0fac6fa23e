/**
 * Yields the lines of a text in linear time, however long a line is. Splits only at newlines: Unicode's other line
 * separators are ordinary text. Returns the text after the last newline.
 */
export async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string, string> {
  let open: string[] = [];
  for await (const chunk of chunks) {
    const [first = '', ...rest] = chunk.split('\n');
    open.push(first);
    const last = rest.pop();
    if (last === undefined) continue;
    yield open.join('');
    yield* rest;
    open = [last];
  }
  return open.join('');
}
