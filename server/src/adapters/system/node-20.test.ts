import { expect, it } from 'vitest';
import { groupBy } from './node-20.ts';

it('groups as Map.groupBy does', () => {
  const keyOf = (word: string, index: number) => (index === 3 ? undefined : word[0]);
  for (const words of [[], ['ada', 'bob', 'alan', 'eve', 'ben']])
    expect([...groupBy(words, keyOf)]).toEqual([...Map.groupBy(words, keyOf)]);
});
