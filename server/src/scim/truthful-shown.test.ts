/**
 * Tests the declared returned and uniqueness (RFC 7643 §7) of every attribute, over HTTP.
 * `test/declared.ts` generates the cases from `/Schemas` and `/ResourceTypes`.
 */

import { afterAll, describe, expect, it } from 'vitest';
import { Declared, isInput, isScalar, named, refused, shown, type Values } from '../../test/declared.ts';

const declared = await Declared.start();
afterAll(() => declared.app.close());

describe('returned', () => {
  it.each(named(declared.leaves))('%s', async (_title, leaf) => {
    const { location } = await declared.holding(leaf);
    const [plain, asked, excluded, other] = await Promise.all(
      ['', `?attributes=${leaf.path}`, `?excludedAttributes=${leaf.path}`, '?attributes=id'].map((query) =>
        declared.read(location, query),
      ),
    );
    const seen = [plain, asked, excluded, other].map((body) => shown(body as Values, leaf).length > 0);
    const { returned } = leaf.attribute.returned === 'default' ? leaf.own : leaf.attribute;
    const expected = {
      always: [true, true, true, true],
      default: [true, true, false, false],
      request: [false, true, false, false],
      never: [false, false, false, false],
    };
    expect(seen).toEqual(expected[returned]);
  });
});

describe('uniqueness', () => {
  const chosen = declared.leaves.filter((leaf) => isInput(leaf) && isScalar(leaf) && leaf.own.type !== 'boolean');
  it.each(named(chosen))('%s', async (_title, leaf) => {
    const { value } = await declared.valued(leaf);
    const [first] = Array.isArray(value) ? value : [];
    // Only the login email and login phone are unique: those that are primary.
    if (leaf.sub && leaf.own.uniqueness === 'server') expect(first).toMatchObject({ primary: true });
    await declared.created(await declared.whole(leaf.type, leaf, value));
    const { attribute, own, sub } = leaf;
    const isAlone = sub && attribute.multiValued && own.uniqueness === 'none' && own.mutability !== 'immutable';
    // Other parts of the element may be unique.
    const again = isAlone ? await declared.around(leaf, first[sub.name]) : value;
    const second = await declared.post(await declared.whole(leaf.type, leaf, again));
    if (own.uniqueness === 'none') expect([second.status, second.text]).toEqual([201, second.text]);
    else refused(second, 'uniqueness', 409);
  });
});
