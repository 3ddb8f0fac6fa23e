/**
 * Tests the declared mutability (RFC 7643 §7) of every attribute, over HTTP.
 * `test/declared.ts` generates the cases from `/Schemas` and `/ResourceTypes`.
 */

import { afterAll, describe, expect, it } from 'vitest';
import { Declared, isOn, isShown, named, put, refused, shown } from '../../test/declared.ts';

const declared = await Declared.start();
afterAll(() => declared.app.close());

describe('mutability', () => {
  const inWritable = declared.leaves.filter(({ type }) => declared.writableTypes.includes(type));
  it.each(named(inWritable.filter((leaf) => isOn(leaf, 'readOnly'))))('%s: readOnly', async (_title, leaf) => {
    const { location, value } = await declared.holding(leaf);
    const sent = await declared.around(leaf, await declared.sample(leaf.own));
    const reply = await declared.project.request('PUT', location, {
      ...(await declared.whole(leaf.type)).body,
      ...(await declared.read(location)),
    });
    expect([reply.status, reply.text]).toEqual([200, reply.text]);
    const made = await declared.post(await declared.whole(leaf.type, leaf, sent));
    expect(made.status, made.text).toBe(201);
    expect(shown(made.body, leaf)).not.toContainEqual(
      shown((await declared.whole(leaf.type, leaf, sent)).body, leaf)[0],
    );
    for (const op of ['add', 'replace', 'remove']) {
      refused(
        await declared.patch(location, op, leaf.path, op === 'remove' ? undefined : await declared.sample(leaf.own)),
        'mutability',
      );
    }
    expect(shown(await declared.read(location), leaf)[0]).toEqual(value);
  });

  it.each(named(inWritable.filter((leaf) => isOn(leaf, 'immutable') && !leaf.sub)))(
    '%s: immutable',
    async (_title, leaf) => {
      const { location, value } = await declared.holding(leaf);
      const next = await declared.valueOf(leaf.attribute);
      for (const op of ['replace', 'remove'])
        refused(await declared.patch(location, op, leaf.path, op === 'remove' ? undefined : next), 'mutability');
      const put_ = { ...(await declared.read(location)) };
      put(put_, leaf, next);
      refused(await declared.project.request('PUT', location, put_), 'mutability');
      expect(shown(await declared.read(location), leaf)[0]).toEqual(value);
      const later = (await declared.created(await declared.whole(leaf.type))).body.meta.location;
      expect((await declared.patch(later, 'add', leaf.path, next)).status).toBe(200);
      refused(await declared.patch(later, 'replace', leaf.path, await declared.valueOf(leaf.attribute)), 'mutability');
    },
  );

  it.each(named(inWritable.filter((leaf) => isOn(leaf, 'immutable') && leaf.sub)))(
    '%s: immutable sub-attribute',
    async (_title, leaf) => {
      const { location, value } = await declared.holding(leaf);
      expect(value).toBeDefined();
      const other = typeof value === 'boolean' ? !value : (await declared.valued(leaf)).part;
      const before = shown(await declared.read(location), { ...leaf, sub: undefined, own: leaf.attribute });
      const path = leaf.attribute.multiValued
        ? `${leaf.attribute.name}[${leaf.own.name} eq ${JSON.stringify(value)}].${leaf.own.name}`
        : leaf.path;
      refused(await declared.patch(location, 'replace', path, other), 'mutability');
      expect(shown(await declared.read(location), { ...leaf, sub: undefined, own: leaf.attribute })).toEqual(before);
    },
  );

  it.each(named(inWritable.filter((leaf) => isOn(leaf, 'readWrite'))))('%s: readWrite', async (_title, leaf) => {
    const { location } = await declared.holding(leaf);
    const next = await declared.sample(leaf.own, leaf.sub ? leaf.attribute.name : '');
    const isNamed = leaf.sub && !leaf.attribute.multiValued;
    const [path, value] = isNamed
      ? [leaf.path, next]
      : [`${leaf.path.replace(`.${leaf.sub?.name}`, '')}`, await declared.around(leaf, next)];
    const reply = await declared.patch(location, 'replace', path, value);
    expect([reply.status, reply.text]).toEqual([200, reply.text]);
    const seen = shown(await declared.read(location, `?attributes=${leaf.path}`), leaf);
    if (!isShown(leaf)) return expect(seen).toEqual([]);
    expect(seen[0]).toEqual(leaf.own.type === 'complex' ? expect.any(Object) : next);
    const again = await declared.sample(leaf.own, leaf.sub ? leaf.attribute.name : '');
    const whole_ = await declared.whole(leaf.type, leaf, await declared.around(leaf, again));
    const replaced = await declared.project.request('PUT', location, whole_.body);
    expect([replaced.status, replaced.text]).toEqual([200, replaced.text]);
    const after = shown(await declared.read(location, `?attributes=${leaf.path}`), leaf)[0];
    if (leaf.own.type !== 'complex') expect(after).toEqual(again);
  });

  it.each(named(inWritable.filter((leaf) => isOn(leaf, 'writeOnly'))))('%s: writeOnly', async (_title, leaf) => {
    expect(leaf.own.returned).toBe('never');
    const { location } = await declared.holding(leaf);
    const reply = await declared.patch(location, 'replace', leaf.path, await declared.valueOf(leaf.attribute));
    expect(reply.status).toBe(200);
  });
});
