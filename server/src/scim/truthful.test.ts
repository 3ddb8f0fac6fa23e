/**
 * Tries each characteristic (RFC 7643 §7) that `/Schemas` declares for each attribute and sub-attribute of each type in
 * `/ResourceTypes`, over HTTP. The cases are generated from these two documents.
 */

import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { type ScimReply, startScimApp } from '../../test/scim-app.ts';
import { system } from '../domain/kernel/actor.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import { scalarTypes } from '../domain/users/custom/custom-schema.entity.ts';

/** An attribute as in `/Schemas`. */
interface Attribute {
  name: string;
  type: string;
  multiValued: boolean;
  required: boolean;
  caseExact?: boolean;
  mutability: 'readOnly' | 'readWrite' | 'immutable' | 'writeOnly';
  returned: 'always' | 'never' | 'default' | 'request';
  uniqueness?: 'none' | 'server' | 'global';
  canonicalValues?: string[];
  referenceTypes?: string[];
  subAttributes?: Attribute[];
}

interface SchemaDocument {
  id: string;
  attributes: Attribute[];
}

interface TypeDocument {
  id: string;
  endpoint: string;
  schema: string;
  schemaExtensions: { schema: string }[];
}

/** An attribute or sub-attribute with its place. */
interface Leaf {
  type: TypeDocument;
  /** URN of the extension; undefined for the schema of the type. */
  extension: string | undefined;
  attribute: Attribute;
  sub: Attribute | undefined;
  /** The innermost one. */
  own: Attribute;
  /** As in a filter, with the URN of its schema. */
  path: string;
}

type Values = Record<string, unknown>;

const app = await startScimApp();
const project = await app.project();
await defineCustomAttributes();
const application = (await app.make.client({ id: project.id } as never)).client;
await app.services.roles.create(
  keyIn(project.id, application.id),
  { key: 'editor', name: 'Editor', description: 'Edits pages' },
  system,
);
const types = (await project.request('GET', '/ResourceTypes')).body.Resources as TypeDocument[];
const schemas = new Map<string, SchemaDocument>(
  (await project.request('GET', '/Schemas')).body.Resources.map((schema: SchemaDocument) => [schema.id, schema]),
);
const leaves = types.flatMap(leavesOf);
const writableTypes = types.filter(isWritable);
afterAll(() => app.close());

/** Custom attributes with every characteristic, and complex ones of every type. */
async function defineCustomAttributes(): Promise<void> {
  const make = (name: string, more: object) =>
    app.services.customAttributes.create(project.id, { name, type: 'string', ...more }, system);
  const subAttributes = scalarTypes.map((type) => ({ name: `part-${type}`, type }));
  for (const multiValued of [false, true]) {
    const end = multiValued ? 's' : '';
    for (const type of scalarTypes) await make(`${type}${end}`, { type, multiValued });
    await make(`complex${end}`, { type: 'complex', multiValued, subAttributes });
    await make(`exact${end}`, { multiValued, caseExact: true });
    await make(`unique${end}`, { multiValued, uniqueness: 'server' });
    await make(`indexed${end}`, { multiValued, indexed: true });
    for (const mutability of ['readOnly', 'immutable', 'writeOnly'])
      await make(`${mutability}${end}`, { multiValued, mutability });
    for (const returned of ['always', 'request', 'never']) await make(`${returned}${end}`, { multiValued, returned });
  }
  await make('needed', { required: true });
  await make('uniqueNumber', { type: 'integer', uniqueness: 'server' });
  await make('fixed', { type: 'complex', mutability: 'immutable', subAttributes });
}

function leavesOf(type: TypeDocument): Leaf[] {
  const extensions = type.schemaExtensions.map(({ schema }) => schema);
  return [undefined, ...extensions].flatMap((extension) => {
    const urn = extension ?? type.schema;
    return (schemas.get(urn)?.attributes ?? []).flatMap((attribute) => {
      const path = `${urn}:${attribute.name}`;
      const parts = (attribute.subAttributes ?? []).map((sub) => ({ sub, own: sub, path: `${path}.${sub.name}` }));
      return [{ sub: undefined, own: attribute, path }, ...parts].map((place) => ({
        type,
        extension,
        attribute,
        ...place,
      }));
    });
  });
}

function isWritable({ schema }: TypeDocument): boolean {
  return (schemas.get(schema)?.attributes ?? []).some(({ mutability }) => mutability !== 'readOnly');
}

const title = ({ type, path }: Leaf) =>
  [`${type.id} ${path.replace(/^.*:/, '')} (${path.replace(/:[^:]*$/, '')})`] as const;
const named = (chosen: readonly Leaf[]) => chosen.map((leaf) => [title(leaf)[0], leaf] as const);
const isOn = (leaf: Leaf, mutability: Attribute['mutability']) => mutabilityOf(leaf) === mutability;
/** The parts of a read-only attribute are read-only. */
const mutabilityOf = ({ attribute, own }: Leaf) => (attribute.mutability === 'readOnly' ? 'readOnly' : own.mutability);
const isScalar = ({ own }: Leaf) => own.type !== 'complex';
const isText = ({ own }: Leaf) => ['string', 'reference', 'binary'].includes(own.type);
/** A value that can be written. */
const isInput = (leaf: Leaf) => mutabilityOf(leaf) !== 'readOnly';
const isShown = ({ own, attribute }: Leaf) => own.returned !== 'never' && attribute.returned !== 'never';

/** An existing resource of a type that a reference may name. */
async function target(names: readonly string[]): Promise<{ id: string; location: string }> {
  const type = types.find(({ id }) => names.includes(id));
  if (!type) throw new Error(`no type of ${names}`);
  const { body } = await created(await whole(type));
  return { id: body.id, location: body.meta.location };
}

/** A new value of one attribute, not wrapped in a list. */
async function sample(attribute: Attribute, parent = ''): Promise<unknown> {
  switch (attribute.type) {
    case 'complex': {
      const parts = (attribute.subAttributes ?? []).filter(({ mutability }) => mutability !== 'readOnly');
      const complex: Values = {};
      for (const part of parts) complex[part.name] = await sample(part, attribute.name);
      const reference = parts.find(({ name }) => name === '$ref');
      if (reference?.mutability !== 'immutable') return complex;
      // The parts that identify a resource must agree.
      const { id, location } = await target(reference.referenceTypes ?? []);
      return { value: id, $ref: location, type: location.includes('/Users/') ? 'User' : 'Group' };
    }
    case 'boolean':
      return true;
    case 'integer':
      return Math.floor(Math.random() * 1e9);
    case 'decimal':
      return Math.floor(Math.random() * 1e9) + 0.5;
    case 'dateTime':
      return new Date(Math.floor(Math.random() * 1e12)).toISOString();
    case 'binary':
      return Buffer.from(`aZ${randomUUID()}`).toString('base64');
    case 'reference':
      return `https://example.com/aZ${randomUUID()}`;
    default:
      if (attribute.canonicalValues) return attribute.canonicalValues[0];
      return attribute.name === 'value' ? formatted(parent) : `aZ${randomUUID()}`;
  }
}

/** E-mail addresses and login phones have a format. */
function formatted(parent: string): string {
  if (parent === 'phoneNumbers') return `+49${String(Math.random()).slice(2, 13).padEnd(11, '1')}`;
  return parent === 'emails' ? `aZ${randomUUID()}@example.com` : `aZ${randomUUID()}`;
}

async function valueOf(attribute: Attribute): Promise<unknown> {
  const one = await sample(attribute);
  return attribute.multiValued ? [one] : one;
}

/** A body with the required attributes, and `value` at `leaf` if given. */
async function whole(type: TypeDocument, leaf?: Leaf, value?: unknown): Promise<{ type: TypeDocument; body: Values }> {
  const body: Values = { schemas: [type.schema, ...type.schemaExtensions.map(({ schema }) => schema)] };
  for (const each of leavesOf(type)) {
    if (each.sub || !each.attribute.required || !isInput(each)) continue;
    put(body, each, await valueOf(each.attribute));
  }
  if (leaf) put(body, leaf, value);
  return { type, body };
}

function put(body: Values, { extension, attribute }: Leaf, value: unknown): void {
  const inside = extension === undefined ? body : ((body[extension] ??= {}) as Values);
  if (value === undefined) delete inside[attribute.name];
  else inside[attribute.name] = value;
}

/** The value of the whole attribute with `part` at the leaf. */
async function around({ attribute, sub }: Leaf, part: unknown): Promise<unknown> {
  if (!sub) return attribute.multiValued && !Array.isArray(part) ? [part] : part;
  const complex = { ...((await sample(attribute)) as Values), [sub.name]: part };
  return attribute.multiValued ? [complex] : complex;
}

/** A value of the whole attribute, and its part at the leaf. */
async function valued({ attribute, sub }: Leaf): Promise<{ value: unknown; part: unknown }> {
  const one = await sample(attribute);
  return { value: attribute.multiValued ? [one] : one, part: sub ? (one as Values)[sub.name] : one };
}

/** The values at the leaf in a response. */
function shown(body: Values, { extension, attribute, sub }: Leaf): unknown[] {
  const inside = extension === undefined ? body : ((body[extension] ?? {}) as Values);
  const value = inside[attribute.name];
  const all = value === undefined ? [] : Array.isArray(value) ? value : [value];
  return sub ? all.map((each) => (each as Values)[sub.name]).filter((each) => each !== undefined) : all;
}

const post = ({ type, body }: { type: TypeDocument; body: Values }) => project.request('POST', type.endpoint, body);

async function created(of: { type: TypeDocument; body: Values }): Promise<ScimReply> {
  const reply = await post(of);
  expect(reply.status, `${JSON.stringify(of.body)} ${reply.text}`).toBe(201);
  return reply;
}

const read = async (location: string, query = '') =>
  (await project.request('GET', `${location}${query}`)).body as Values;

const patch = (location: string, op: string, path: string, value?: unknown) =>
  project.request('PATCH', location, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op, path, ...(value === undefined ? {} : { value }) }],
  });

const refused = (reply: ScimReply, scimType: string, status = 400) =>
  expect([reply.status, reply.body?.scimType, reply.text]).toEqual([status, scimType, reply.text]);

/** A resource with a value at the leaf, which is shown. */
async function holding(leaf: Leaf): Promise<{ location: string; value: unknown }> {
  if (!isWritable(leaf.type)) {
    const [resource] = (await project.request('GET', leaf.type.endpoint)).body.Resources;
    return { location: resource.meta.location, value: shown(resource, leaf)[0] };
  }
  if (!isInput(leaf)) return computed(leaf);
  const { value, part } = await valued(leaf);
  const { body } = await created(await whole(leaf.type, leaf, value));
  const again = await read(body.meta.location, `?attributes=${leaf.path}`);
  return { location: body.meta.location, value: isShown(leaf) ? shown(again, leaf)[0] : part };
}

/** A resource with a value that the server derives: of a user in a group, or of one with a manager. */
async function computed(leaf: Leaf): Promise<{ location: string; value: unknown }> {
  const user = types.find(({ endpoint }) => endpoint === '/Users') as TypeDocument;
  const group = types.find(({ endpoint }) => endpoint === '/Groups') as TypeDocument;
  const nameOf = (type: TypeDocument) => leavesOf(type).find(({ own }) => own.name === 'displayName') as Leaf;
  const manager = (await created(await whole(user, nameOf(user), `aZ ${randomUUID()}`))).body;
  const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
  const { body } = await whole(user, nameOf(user), `aZ ${randomUUID()}`);
  const member = (await created({ type: user, body: { ...body, [enterprise]: { manager: { value: manager.id } } } }))
    .body;
  const inGroup = { displayName: `aZ ${randomUUID()}`, members: [{ value: member.id }] };
  const holder = (await created({ type: group, body: inGroup })).body;
  if (leaf.extension !== undefined && leaf.attribute.mutability === 'readOnly') {
    const name = leaf.attribute.name;
    const values = { [name]: await valueOf(leaf.attribute) };
    await app.services.accounts.editCustom(project.id, member.id, values, system);
  }
  const location = leaf.type === group ? holder.meta.location : member.meta.location;
  return { location, value: shown(await read(location), leaf)[0] };
}

it('covers every type, and every schema of resources', () => {
  expect(types.map(({ id }) => id).sort()).toEqual(['ApplicationRole', 'Entitlement', 'Group', 'Role', 'User']);
  for (const type of types) {
    const declared = new Set(leavesOf(type).map(({ extension }) => extension ?? type.schema));
    expect([...declared]).toEqual([type.schema, ...type.schemaExtensions.map(({ schema }) => schema)]);
  }
  for (const type of types.filter((each) => !isWritable(each))) {
    expect(leavesOf(type).every((leaf) => isOn(leaf, 'readOnly'))).toBe(true);
  }
});

describe.each(types.filter((type) => !isWritable(type)).map((type) => [type.id, type] as const))('%s', (_id, type) => {
  it('is read-only as a whole', async () => {
    expect((await post({ type, body: {} })).status).toBe(405);
  });
});

describe('type and multiValued', () => {
  it.each(named(leaves.filter(isShown)))('%s: values have the type', async (_title, leaf) => {
    const { location, value } = await holding(leaf);
    expect(value).toBeDefined();
    const is: Record<string, (value: unknown) => boolean> = {
      boolean: (each) => typeof each === 'boolean',
      integer: Number.isInteger,
      decimal: (each) => typeof each === 'number',
      dateTime: (each) => typeof each === 'string' && !Number.isNaN(Date.parse(each)),
      complex: (each) => typeof each === 'object' && each !== null,
    };
    expect([value, (is[leaf.own.type] ?? ((each) => typeof each === 'string'))(value)]).toEqual([value, true]);
    const body = await read(location, `?attributes=${leaf.path}`);
    const inside = leaf.extension === undefined ? body : (body[leaf.extension] as Values);
    expect(Array.isArray(inside[leaf.attribute.name])).toBe(leaf.attribute.multiValued);
  });

  it.each(named(leaves.filter(isInput)))('%s: another type is refused', async (_title, leaf) => {
    const wrong = leaf.own.type === 'complex' ? 5 : { nonsense: true };
    const value = await around(leaf, wrong);
    refused(await post(await whole(leaf.type, leaf, value)), 'invalidValue');
    const two = await Promise.all([sample(leaf.own), sample(leaf.own)]);
    const several = leaf.sub ? await around(leaf, two) : two;
    const reply = await post(await whole(leaf.type, leaf, several));
    if (leaf.own.multiValued) expect([reply.status, reply.text]).toEqual([201, reply.text]);
    else refused(reply, 'invalidValue');
  });
});

describe('required', () => {
  it.each(named(leaves.filter((leaf) => isInput(leaf) && !leaf.sub)))('%s', async (_title, leaf) => {
    const { type, attribute } = leaf;
    const without = await whole(type, leaf, undefined);
    if (!attribute.required) {
      const { location } = await holding(leaf);
      if (attribute.mutability === 'immutable') return;
      expect((await patch(location, 'remove', leaf.path)).status).toBeLessThan(300);
      return expect(shown(await read(location, `?attributes=${leaf.path}`), leaf)).toEqual([]);
    }
    refused(await post(without), 'invalidValue');
    const { body } = await created(await whole(type));
    refused(await project.request('PUT', body.meta.location, without.body), 'invalidValue');
    const removal = await patch(body.meta.location, 'remove', leaf.path);
    expect([removal.status, ['mutability', 'invalidValue'].includes(removal.body.scimType)]).toEqual([400, true]);
    expect(shown(await read(body.meta.location), leaf)).toHaveLength(1);
  });

  it('holds for no sub-attribute that can be written', () => {
    expect(leaves.filter((leaf) => leaf.sub?.required && isInput(leaf))).toEqual([]);
  });
});

describe('canonicalValues', () => {
  it.each(named(leaves.filter(({ own }) => own.canonicalValues)))('%s', async (_title, leaf) => {
    const { canonicalValues = [] } = leaf.own;
    if (!isInput(leaf)) {
      const { value } = await holding(leaf);
      return expect(canonicalValues).toContain(value);
    }
    for (const canonical of canonicalValues) {
      const isResource = types.some(({ id }) => id === canonical);
      const value = isResource
        ? [{ value: (await target([canonical])).id, type: canonical }]
        : await around(leaf, canonical);
      const { body } = await created(await whole(leaf.type, leaf, value));
      expect(shown(body, leaf)).toEqual([canonical]);
    }
  });
});

describe('caseExact', () => {
  it.each(named(leaves.filter(({ own }) => !['string', 'reference', 'binary', 'dateTime'].includes(own.type))))(
    '%s: is declared of text alone',
    (_title, { own }) => expect(own.caseExact).toBeUndefined(),
  );

  it.each(named(leaves.filter((leaf) => isText(leaf) && isShown(leaf))))('%s', async (_title, leaf) => {
    const { location, value } = await holding(leaf);
    const swapped = String(value).replace(/[a-z]/gi, (letter) =>
      letter < 'a' ? letter.toLowerCase() : letter.toUpperCase(),
    );
    // A phone number has no letters.
    if (swapped === value) return expect(leaf.attribute.name).toBe('phoneNumbers');
    const { id } = await read(location);
    const finds = async (text: unknown) => {
      const filter = encodeURIComponent(`id eq "${id}" and ${leaf.path} eq ${JSON.stringify(text)}`);
      const reply = await project.request('GET', `${leaf.type.endpoint}?filter=${filter}`);
      expect(reply.status, reply.text).toBe(200);
      return reply.body.totalResults === 1;
    };
    expect([await finds(value), await finds(swapped)]).toEqual([true, leaf.own.caseExact === false]);
  });

  it.each(named(leaves.filter((leaf) => isScalar(leaf) && !isShown(leaf))))(
    '%s: cannot be searched',
    async (_title, leaf) => {
      const filter = encodeURIComponent(`${leaf.path} pr`);
      refused(await project.request('GET', `${leaf.type.endpoint}?filter=${filter}`), 'invalidFilter');
      refused(await project.request('GET', `${leaf.type.endpoint}?sortBy=${leaf.path}`), 'invalidPath');
    },
  );
});

describe('mutability', () => {
  const inWritable = leaves.filter(({ type }) => writableTypes.includes(type));
  it.each(named(inWritable.filter((leaf) => isOn(leaf, 'readOnly'))))('%s: readOnly', async (_title, leaf) => {
    const { location, value } = await holding(leaf);
    const sent = await around(leaf, await sample(leaf.own));
    const reply = await project.request('PUT', location, {
      ...(await whole(leaf.type)).body,
      ...(await read(location)),
    });
    expect([reply.status, reply.text]).toEqual([200, reply.text]);
    const made = await post(await whole(leaf.type, leaf, sent));
    expect(made.status, made.text).toBe(201);
    expect(shown(made.body, leaf)).not.toContainEqual(shown((await whole(leaf.type, leaf, sent)).body, leaf)[0]);
    for (const op of ['add', 'replace', 'remove']) {
      refused(await patch(location, op, leaf.path, op === 'remove' ? undefined : await sample(leaf.own)), 'mutability');
    }
    expect(shown(await read(location), leaf)[0]).toEqual(value);
  });

  it.each(named(inWritable.filter((leaf) => isOn(leaf, 'immutable') && !leaf.sub)))(
    '%s: immutable',
    async (_title, leaf) => {
      const { location, value } = await holding(leaf);
      const next = await valueOf(leaf.attribute);
      for (const op of ['replace', 'remove'])
        refused(await patch(location, op, leaf.path, op === 'remove' ? undefined : next), 'mutability');
      const put_ = { ...(await read(location)) };
      put(put_, leaf, next);
      refused(await project.request('PUT', location, put_), 'mutability');
      expect(shown(await read(location), leaf)[0]).toEqual(value);
      const later = (await created(await whole(leaf.type))).body.meta.location;
      expect((await patch(later, 'add', leaf.path, next)).status).toBe(200);
      refused(await patch(later, 'replace', leaf.path, await valueOf(leaf.attribute)), 'mutability');
    },
  );

  it.each(named(inWritable.filter((leaf) => isOn(leaf, 'immutable') && leaf.sub)))(
    '%s: immutable part',
    async (_title, leaf) => {
      const { location, value } = await holding(leaf);
      expect(value).toBeDefined();
      const other = typeof value === 'boolean' ? !value : (await valued(leaf)).part;
      const before = shown(await read(location), { ...leaf, sub: undefined, own: leaf.attribute });
      const path = leaf.attribute.multiValued
        ? `${leaf.attribute.name}[${leaf.own.name} eq ${JSON.stringify(value)}].${leaf.own.name}`
        : leaf.path;
      refused(await patch(location, 'replace', path, other), 'mutability');
      expect(shown(await read(location), { ...leaf, sub: undefined, own: leaf.attribute })).toEqual(before);
    },
  );

  it.each(named(inWritable.filter((leaf) => isOn(leaf, 'readWrite'))))('%s: readWrite', async (_title, leaf) => {
    const { location } = await holding(leaf);
    const next = await sample(leaf.own, leaf.sub ? leaf.attribute.name : '');
    const isNamed = leaf.sub && !leaf.attribute.multiValued;
    const [path, value] = isNamed
      ? [leaf.path, next]
      : [`${leaf.path.replace(`.${leaf.sub?.name}`, '')}`, await around(leaf, next)];
    const reply = await patch(location, 'replace', path, value);
    expect([reply.status, reply.text]).toEqual([200, reply.text]);
    const seen = shown(await read(location, `?attributes=${leaf.path}`), leaf);
    if (!isShown(leaf)) return expect(seen).toEqual([]);
    expect(seen[0]).toEqual(leaf.own.type === 'complex' ? expect.any(Object) : next);
    const again = await sample(leaf.own, leaf.sub ? leaf.attribute.name : '');
    const whole_ = await whole(leaf.type, leaf, await around(leaf, again));
    const replaced = await project.request('PUT', location, whole_.body);
    expect([replaced.status, replaced.text]).toEqual([200, replaced.text]);
    const after = shown(await read(location, `?attributes=${leaf.path}`), leaf)[0];
    if (leaf.own.type !== 'complex') expect(after).toEqual(again);
  });

  it.each(named(inWritable.filter((leaf) => isOn(leaf, 'writeOnly'))))('%s: writeOnly', async (_title, leaf) => {
    expect(leaf.own.returned).toBe('never');
    const { location } = await holding(leaf);
    const reply = await patch(location, 'replace', leaf.path, await valueOf(leaf.attribute));
    expect(reply.status).toBe(200);
  });
});

describe('returned', () => {
  it.each(named(leaves))('%s', async (_title, leaf) => {
    const { location } = await holding(leaf);
    const [plain, asked, excluded, other] = await Promise.all(
      ['', `?attributes=${leaf.path}`, `?excludedAttributes=${leaf.path}`, '?attributes=id'].map((query) =>
        read(location, query),
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
  const chosen = leaves.filter((leaf) => isInput(leaf) && isScalar(leaf) && leaf.own.type !== 'boolean');
  it.each(named(chosen))('%s', async (_title, leaf) => {
    const { value } = await valued(leaf);
    const [first] = Array.isArray(value) ? value : [];
    // Only the login e-mail and login phone are unique: those that are primary.
    if (leaf.sub && leaf.own.uniqueness === 'server') expect(first).toMatchObject({ primary: true });
    await created(await whole(leaf.type, leaf, value));
    const { attribute, own, sub } = leaf;
    const isAlone = sub && attribute.multiValued && own.uniqueness === 'none' && own.mutability !== 'immutable';
    // Other parts of the element may be unique.
    const again = isAlone ? await around(leaf, first[sub.name]) : value;
    const second = await post(await whole(leaf.type, leaf, again));
    if (own.uniqueness === 'none') expect([second.status, second.text]).toEqual([201, second.text]);
    else refused(second, 'uniqueness', 409);
  });
});
