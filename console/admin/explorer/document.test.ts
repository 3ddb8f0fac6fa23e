import { expect, it } from 'vitest';
import { formatted, operationsOf, variablesOf } from './document.ts';

it('finds the operations of a text, and none in a text that does not parse', () => {
  expect(operationsOf('query A { me { name } } mutation B { x } fragment F on T { y }')).toEqual([
    { name: 'A', isMutation: false },
    { name: 'B', isMutation: true },
  ]);
  expect(operationsOf('{ me { name } }')).toEqual([{ name: '', isMutation: false }]);
  for (const text of ['', 'query {', 'fragment']) expect(operationsOf(text)).toEqual([]);
});

it('formats a text, unless that loses a comment or the text does not parse', () => {
  expect(formatted('query A{me{name}}')).toBe('query A {\n  me {\n    name\n  }\n}');
  for (const text of ['query {', '# why\n{ me { name } }', '{ me { name # why\n } }', '']) {
    expect(formatted(text)).toBe(text);
  }
  expect(formatted('{ user(id: "#1") { name } }')).toContain('user(id: "#1") {\n');
});

it('accepts only variables that are a JSON object', () => {
  expect(variablesOf(' ')).toEqual({});
  expect(variablesOf('{ "a": 1 }')).toEqual({ a: 1 });
  for (const text of ['[]', 'null', '1', '"a"', '{ a: 1 }', '{']) expect(variablesOf(text)).toBeUndefined();
});
