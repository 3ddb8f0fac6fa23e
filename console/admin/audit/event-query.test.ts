import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { filterOf } from './event-query.ts';
import { groupNames } from './sentences.ts';

it('asks for no more types of a group than the server accepts', () => {
  const filter = readFileSync(new URL('../../../server/src/admin/audit/event-filter.ts', import.meta.url), 'utf8');
  const most = Number(/maxTypes = (\d+);/.exec(filter)?.[1]);
  const counts = Object.keys(groupNames).map(
    (group) => filterOf((name) => (name === 'group' ? group : undefined), 0).types?.length ?? 0,
  );
  expect(Math.max(...counts)).toBeLessThanOrEqual(most);
  expect(Math.min(...counts)).toBeGreaterThan(0);
});
