/** PostgreSQL identifies an advisory lock only by its number: two uses of one number would wait for each other. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const source = join(import.meta.dirname, '../src');

it('each advisory lock has a unique number', () => {
  const locks = globSync('**/*.ts', { cwd: source })
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) =>
      [...readFileSync(join(source, file), 'utf8').matchAll(/const (\w*Locks?) = ([\d_]+);/g)].map(
        ([, name, number = '']) => ({ name: `${name} of ${file}`, number: Number(number.replaceAll('_', '')) }),
      ),
    );
  expect(locks.length).toBeGreaterThan(10);
  const shared = Object.values(Object.groupBy(locks, ({ number }) => number)).filter((one) => one && one.length > 1);
  expect(shared).toEqual([]);
});
