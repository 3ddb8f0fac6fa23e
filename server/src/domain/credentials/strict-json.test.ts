import { describe, expect, it } from 'vitest';
import { parseStrictJson } from './strict-json.ts';

describe('strict JSON', () => {
  it('parses like JSON.parse', () => {
    const text = '{"a":[1,{"b":"}]{[\\""}],"c":{"a":null}}';
    expect(parseStrictJson(text)).toEqual(JSON.parse(text));
  });

  it.each([['{"a":1,"a":2}'], ['{"a":{"b":1,"\\u0062":2}}'], ['{"a":1'], [`${'['.repeat(33)}${']'.repeat(33)}`]])(
    'refuses %s',
    (text) => {
      expect(() => parseStrictJson(text)).toThrow(SyntaxError);
    },
  );

  it('refuses 64 KB of nesting without delay', () => {
    const deep = 30_000;
    expect(() => parseStrictJson('['.repeat(deep) + ']'.repeat(deep))).toThrow(SyntaxError);
    expect(() => parseStrictJson(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`)).toThrow(SyntaxError);
  });
});
