import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { allTypes } from './sentences.ts';

it('has a sentence for every event type of the server', () => {
  const source = fileURLToPath(new URL('../../../server/src', import.meta.url));
  const files = globSync('**/*.ts', { cwd: source }).filter((path) => !path.endsWith('.test.ts'));
  const recorded = files.flatMap((path) =>
    [...readFileSync(`${source}/${path}`, 'utf8').matchAll(/\btype: '([a-z-]+\.[a-z_-]+)'/g)].map(([, type]) => type),
  );
  expect(recorded.length).toBeGreaterThan(50);
  expect([...new Set(recorded)].filter((type) => !allTypes.includes(type as string))).toEqual([]);
});
