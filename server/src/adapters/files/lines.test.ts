import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { linesOf } from './lines.ts';

async function split(chunks: string[]): Promise<{ lines: string[]; rest: string }> {
  const lines: string[] = [];
  const reader = linesOf(Readable.from(chunks));
  for (;;) {
    const { done, value } = await reader.next();
    if (done) return { lines, rest: value };
    lines.push(value);
  }
}

it.each<[string[], string[], string]>([
  [[], [], ''],
  [['a'], [], 'a'],
  [['a\n'], ['a'], ''],
  [['\n', '\n'], ['', ''], ''],
  [['a', 'b', 'c\nd', 'e'], ['abc'], 'de'],
  [['a\nb\nc', '\n', 'd'], ['a', 'b', 'c'], 'd'],
  [['a\r\nb\u2028c'], ['a\r'], 'b\u2028c'],
])('splits %j at newlines', async (chunks, lines, rest) => {
  expect(await split(chunks)).toEqual({ lines, rest });
});
