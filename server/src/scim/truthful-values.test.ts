/**
 * Tests the declared types, multiValued, required, canonicalValues and caseExact (RFC 7643 §7) of every attribute, over
 * HTTP. `test/declared.ts` generates the cases from `/Schemas` and `/ResourceTypes`.
 */

import { afterAll, describe, expect, it } from 'vitest';
import {
  Declared,
  isInput,
  isOn,
  isScalar,
  isShown,
  isText,
  named,
  refused,
  shown,
  type Values,
} from '../../test/declared.ts';

const declared = await Declared.start();
afterAll(() => declared.app.close());

it('covers every type, and every schema of resources', () => {
  expect(declared.types.map(({ id }) => id).sort()).toEqual([
    'ApplicationRole',
    'Entitlement',
    'Group',
    'Role',
    'User',
  ]);
  for (const type of declared.types) {
    const urns = new Set(declared.leavesOf(type).map(({ extension }) => extension ?? type.schema));
    expect([...urns]).toEqual([type.schema, ...type.schemaExtensions.map(({ schema }) => schema)]);
  }
  for (const type of declared.types.filter((each) => !declared.isWritable(each))) {
    expect(declared.leavesOf(type).every((leaf) => isOn(leaf, 'readOnly'))).toBe(true);
  }
});

describe.each(declared.types.filter((type) => !declared.isWritable(type)).map((type) => [type.id, type] as const))(
  '%s',
  (_id, type) => {
    it('is read-only as a whole', async () => {
      expect((await declared.post({ type, body: {} })).status).toBe(405);
    });
  },
);

it('has ids in one form: neither upper case nor another that PostgreSQL reads as the same UUID', async () => {
  const project = await declared.app.project();
  const user = (await project.request('POST', '/Users', { userName: 'one-form' })).body.id as string;
  const group = (await project.request('POST', '/Groups', { displayName: 'g' })).body.id as string;
  const forms = (id: string) => [id.toUpperCase(), `{${id}}`, id.replaceAll('-', '')];
  for (const id of [...forms(user), ...forms(group)]) {
    for (const path of [`/Users/${id}`, `/Groups/${id}`]) {
      const answers = [await project.request('GET', path), await project.request('DELETE', path)];
      const bulk = {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
        Operations: [{ method: 'DELETE', path }],
      };
      answers.push(await project.request('POST', '/Bulk', bulk));
      const statuses = answers.map(({ status, body }) => body.Operations?.[0].status ?? String(status));
      expect([path, ...statuses]).toEqual([path, '404', '404', '404']);
    }
    const members = { displayName: 'g', members: [{ value: id }] };
    expect((await project.request('PUT', `/Groups/${group}`, members)).body.scimType).toBe('invalidValue');
  }
});

describe('type and multiValued', () => {
  it.each(named(declared.leaves.filter(isShown)))('%s: values have the type', async (_title, leaf) => {
    const { location, value } = await declared.holding(leaf);
    expect(value).toBeDefined();
    const is: Record<string, (value: unknown) => boolean> = {
      boolean: (each) => typeof each === 'boolean',
      integer: Number.isInteger,
      decimal: (each) => typeof each === 'number',
      dateTime: (each) => typeof each === 'string' && !Number.isNaN(Date.parse(each)),
      complex: (each) => typeof each === 'object' && each !== null,
    };
    expect([value, (is[leaf.own.type] ?? ((each) => typeof each === 'string'))(value)]).toEqual([value, true]);
    const body = await declared.read(location, `?attributes=${leaf.path}`);
    const inside = leaf.extension === undefined ? body : (body[leaf.extension] as Values);
    expect(Array.isArray(inside[leaf.attribute.name])).toBe(leaf.attribute.multiValued);
  });

  it.each(named(declared.leaves.filter(isInput)))('%s: another type is refused', async (_title, leaf) => {
    const wrong = leaf.own.type === 'complex' ? 5 : { nonsense: true };
    const value = await declared.around(leaf, wrong);
    refused(await declared.post(await declared.whole(leaf.type, leaf, value)), 'invalidValue');
    const two = await Promise.all([declared.sample(leaf.own), declared.sample(leaf.own)]);
    const several = leaf.sub ? await declared.around(leaf, two) : two;
    const reply = await declared.post(await declared.whole(leaf.type, leaf, several));
    if (leaf.own.multiValued) expect([reply.status, reply.text]).toEqual([201, reply.text]);
    else refused(reply, 'invalidValue');
  });
});

describe('required', () => {
  it.each(named(declared.leaves.filter((leaf) => isInput(leaf) && !leaf.sub)))('%s', async (_title, leaf) => {
    const { type, attribute } = leaf;
    const without = await declared.whole(type, leaf, undefined);
    if (!attribute.required) {
      const { location } = await declared.holding(leaf);
      if (attribute.mutability === 'immutable') return;
      expect((await declared.patch(location, 'remove', leaf.path)).status).toBeLessThan(300);
      return expect(shown(await declared.read(location, `?attributes=${leaf.path}`), leaf)).toEqual([]);
    }
    refused(await declared.post(without), 'invalidValue');
    const { body } = await declared.created(await declared.whole(type));
    refused(await declared.project.request('PUT', body.meta.location, without.body), 'invalidValue');
    const removal = await declared.patch(body.meta.location, 'remove', leaf.path);
    expect([removal.status, ['mutability', 'invalidValue'].includes(removal.body.scimType)]).toEqual([400, true]);
    expect(shown(await declared.read(body.meta.location), leaf)).toHaveLength(1);
  });

  it('applies to no writable sub-attribute', () => {
    expect(declared.leaves.filter((leaf) => leaf.sub?.required && isInput(leaf))).toEqual([]);
  });
});

describe('canonicalValues', () => {
  it.each(named(declared.leaves.filter(({ own }) => own.canonicalValues)))('%s', async (_title, leaf) => {
    const { canonicalValues = [] } = leaf.own;
    if (!isInput(leaf)) {
      const { value } = await declared.holding(leaf);
      return expect(canonicalValues).toContain(value);
    }
    for (const canonical of canonicalValues) {
      const isResource = declared.types.some(({ id }) => id === canonical);
      const value = isResource
        ? [{ value: (await declared.target([canonical])).id, type: canonical }]
        : await declared.around(leaf, canonical);
      const { body } = await declared.created(await declared.whole(leaf.type, leaf, value));
      expect(shown(body, leaf)).toEqual([canonical]);
    }
  });
});

describe('caseExact', () => {
  it.each(
    named(declared.leaves.filter(({ own }) => !['string', 'reference', 'binary', 'dateTime'].includes(own.type))),
  )('%s: is declared only of text', (_title, { own }) => expect(own.caseExact).toBeUndefined());

  it.each(named(declared.leaves.filter((leaf) => isText(leaf) && isShown(leaf))))('%s', async (_title, leaf) => {
    const { location, value } = await declared.holding(leaf);
    const swapped = String(value).replace(/[a-z]/gi, (letter) =>
      letter < 'a' ? letter.toLowerCase() : letter.toUpperCase(),
    );
    // A phone number has no letters.
    if (swapped === value) return expect(leaf.attribute.name).toBe('phoneNumbers');
    const { id } = await declared.read(location);
    const finds = async (text: unknown) => {
      const filter = encodeURIComponent(`id eq "${id}" and ${leaf.path} eq ${JSON.stringify(text)}`);
      const reply = await declared.project.request('GET', `${leaf.type.endpoint}?filter=${filter}`);
      expect(reply.status, reply.text).toBe(200);
      return reply.body.totalResults === 1;
    };
    expect([await finds(value), await finds(swapped)]).toEqual([true, leaf.own.caseExact === false]);
  });

  it.each(named(declared.leaves.filter((leaf) => isScalar(leaf) && !isShown(leaf))))(
    '%s: cannot be searched',
    async (_title, leaf) => {
      const filter = encodeURIComponent(`${leaf.path} pr`);
      refused(await declared.project.request('GET', `${leaf.type.endpoint}?filter=${filter}`), 'invalidFilter');
      refused(await declared.project.request('GET', `${leaf.type.endpoint}?sortBy=${leaf.path}`), 'invalidPath');
    },
  );
});
