import { expect, it } from 'vitest';
import { mappingOf, newRow, rowOf, textOf } from './mapping-row.ts';

const absent = { scope: null, attribute: null, template: null, list: null, constant: null };

it.each([
  { claim: 'a', attribute: 'title' },
  { claim: 'a', scope: 'groups', template: '${userName}@corp' },
  { claim: 'a', list: { of: 'GROUPS' as const, prefix: 'app-', removePrefix: true } },
  ...['text', '42', 'true', '["a"]', '"quoted"', '{}', '', 42, false, ['a', 'b']].map((constant) => ({
    claim: 'a',
    constant,
  })),
])('the form keeps a mapping unchanged: %j', (mapping) => {
  expect(mappingOf(rowOf({ ...absent, ...mapping }))).toEqual({ scope: null, ...mapping });
});

it('a mapping is shown as one line of text', () => {
  const row = { ...newRow, claim: 'policy', source: 'list' as const, prefix: 'app-', scope: 'groups' };
  expect(textOf(row)).toBe('policy ← Groups that begin with app- (groups)');
});
