import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

it('no element of the demo is styled by the id of an element of the hosted page', () => {
  const styles = readdirSync(new URL('../signin/styles', import.meta.url)).map((name) =>
    read(`../signin/styles/${name}`),
  );
  const styled = new Set(
    [...styles, read('../signin/signin.css')].flatMap((css) => css.match(/#[a-z][\w-]*(?=[^{}]*\{)/g) ?? []),
  );
  const ids = [...read('./index.html').matchAll(/ id="([\w-]+)"/g)].map(([, id]) => `#${id}`);
  expect(styled.size).toBeGreaterThan(3);
  expect(ids.filter((id) => styled.has(id))).toEqual([]);
});
