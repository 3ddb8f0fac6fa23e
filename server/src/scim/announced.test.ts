import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScimApp, type ScimProject, startScimApp } from '../../test/scim-app.ts';
import { system } from '../domain/kernel/actor.ts';
import { customTypes, scalarTypes } from '../domain/users/custom/custom-schema.entity.ts';

/** An attribute as in `/Schemas`, the only schema that these tests use. */
interface Announced {
  name: string;
  type: string;
  multiValued: boolean;
  required: boolean;
  caseExact?: boolean;
  mutability: string;
  returned: string;
  uniqueness?: string;
  canonicalValues?: string[];
  referenceTypes?: string[];
  subAttributes?: Announced[];
}

interface Document {
  id: string;
  name: string;
  attributes: Announced[];
}

let app: ScimApp;
let project: ScimProject;
let schemas: Map<string, Document>;
beforeAll(async () => {
  app = await startScimApp();
  project = await app.project();
  const { customAttributes } = app.services;
  const subAttributes = scalarTypes.map((type) => ({ name: `part-${type}`, type }));
  for (const multiValued of [false, true]) {
    for (const type of customTypes) {
      const name = `${type}${multiValued ? 's' : ''}`;
      const parts = type === 'complex' ? { subAttributes } : {};
      await customAttributes.create(project.id, { name, type, multiValued, ...parts }, system);
    }
  }
  const { Resources } = (await project.request('GET', '/Schemas')).body as { Resources: Document[] };
  schemas = new Map(Resources.map((schema) => [schema.name, schema]));
});
afterAll(() => app.close());

const writable = (schema: string) =>
  (schemas.get(schema)?.attributes ?? []).filter(({ mutability }) => mutability !== 'readOnly');

/** A random value by type, with special cases for emails and phones. */
async function randomValue(attribute: Announced, parent = ''): Promise<unknown> {
  const one = async (): Promise<unknown> => {
    switch (attribute.type) {
      case 'complex': {
        const parts = (attribute.subAttributes ?? []).filter(({ mutability }) => mutability !== 'readOnly');
        const complex: Record<string, unknown> = {};
        for (const part of parts) complex[part.name] = await randomValue(part, attribute.name);
        if (typeof complex['$ref'] === 'string') complex['value'] = complex['$ref'].split('/').at(-1);
        return complex;
      }
      case 'boolean':
        return attribute.name === 'primary' || Math.random() < 0.5;
      case 'integer':
        return Math.floor(Math.random() * 1e9);
      case 'decimal':
        return Math.random();
      case 'dateTime':
        return new Date(Math.floor(Math.random() * 1e12)).toISOString();
      case 'binary':
        return Buffer.from(randomUUID()).toString('base64');
      case 'reference': {
        if (!attribute.referenceTypes?.includes('User')) return `https://${randomUUID()}.test`;
        return (await project.request('POST', '/Users', { userName: randomUUID() })).body.meta.location;
      }
      default:
        // The type of a member follows from its id: the tests use users.
        if (attribute.canonicalValues?.includes('User')) return 'User';
        if (attribute.canonicalValues?.length === 1) return attribute.canonicalValues[0];
        if (parent === 'emails' && attribute.name === 'value') return `${randomUUID()}@${randomUUID()}.com`;
        if (parent === 'phoneNumbers' && attribute.name === 'value') return String(Math.random()).slice(2, 12);
        return randomUUID();
    }
  };
  return attribute.multiValued ? [await one()] : one();
}

async function randomValues(schema: string): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const attribute of writable(schema)) values[attribute.name] = await randomValue(attribute);
  return values;
}

const patch = (path: string, op: string, at: string, value?: unknown) =>
  project.request('PATCH', path, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op, path: at, ...(value === undefined ? {} : { value }) }],
  });

const literals: Record<string, string> = {
  boolean: 'true',
  integer: '1',
  decimal: '0.5',
  dateTime: '"2026-01-31T12:00:00Z"',
};

const kinds = [
  {
    kind: 'User',
    endpoint: '/Users',
    extensions: ['EnterpriseUser', 'CustomUser'],
    minimum: () => ({ userName: randomUUID() }),
  },
  { kind: 'Group', endpoint: '/Groups', extensions: [], minimum: () => ({ displayName: randomUUID() }) },
];

describe.each(kinds)('the schema of $kind in /Schemas', ({ kind, endpoint, extensions, minimum }) => {
  it('round-trips through create, read and replace', async () => {
    const id = schemas.get(kind)?.id as string;
    const extensionIds = extensions.map((name) => schemas.get(name)?.id as string);
    const whole = async () => {
      const values = await Promise.all(extensions.map(randomValues));
      return {
        schemas: [id, ...extensionIds],
        ...(await randomValues(kind)),
        externalId: randomUUID(),
        ...Object.fromEntries(extensionIds.map((urn, at) => [urn, values[at]])),
      };
    };
    const sent = await whole();
    const made = await project.request('POST', endpoint, sent);
    expect(made.status, made.text).toBe(201);
    expect(made.body).toMatchObject(sent);
    expect((await project.request('GET', made.body.meta.location)).body).toEqual(made.body);
    const again = await whole();
    const replaced = await project.request('PUT', made.body.meta.location, { ...made.body, ...again });
    expect(replaced.body).toMatchObject(again);
  });

  it('allows add, replace and remove of each attribute by its full URN', async () => {
    const made = await project.request('POST', endpoint, minimum());
    const path = `${endpoint}/${made.body.id}`;
    for (const schema of [kind, ...extensions]) {
      const { id } = schemas.get(schema) as Document;
      for (const attribute of writable(schema)) {
        const at = `${id}:${attribute.name}`;
        const shown = (body: Record<string, Record<string, unknown>>) =>
          schema === kind ? body[attribute.name] : body[id]?.[attribute.name];
        for (const op of attribute.multiValued ? ['add', 'remove', 'replace'] : ['add', 'replace', 'remove']) {
          if (op === 'remove' && attribute.required) continue;
          const value = op === 'remove' ? undefined : await randomValue(attribute);
          const reply = await patch(path, op, at, value);
          expect(reply.status, `${op} ${at} ${reply.text}`).toBe(200);
          const left = op === 'remove' && kind === 'Group' && attribute.multiValued ? [] : value;
          expect(shown(reply.body), `${op} ${at}`).toEqual(left);
          expect(shown((await project.request('GET', path)).body), `${op} ${at}`).toEqual(left);
        }
      }
    }
  });

  it('allows filtering, sorting and selecting by each attribute', async () => {
    for (const schema of [kind, ...extensions]) {
      const { id, attributes } = schemas.get(schema) as Document;
      for (const attribute of attributes) {
        const values = attribute.type === 'complex' ? (attribute.subAttributes ?? []) : [attribute];
        for (const part of values) {
          const name = `${id}:${attribute.name}${part === attribute ? '' : `.${part.name}`}`;
          const literal = literals[part.type] ?? '"x"';
          for (const filter of [`${name} eq ${literal}`, `not (${name} pr)`, `${name} ne ${literal}`]) {
            const reply = await project.request('GET', `${endpoint}?count=1&filter=${encodeURIComponent(filter)}`);
            expect(reply.status, `${filter} ${reply.text}`).toBe(200);
          }
          if (!['members', 'groups'].includes(attribute.name)) {
            for (const sortOrder of ['ascending', 'descending']) {
              const reply = await project.request('GET', `${endpoint}?count=2&sortBy=${name}&sortOrder=${sortOrder}`);
              expect(reply.status, `${name} ${reply.text}`).toBe(200);
            }
          }
          const chosen = await project.request('GET', `${endpoint}?count=1&attributes=${name}`);
          const allowed = new Set(['schemas', 'id', attribute.name, id]);
          expect(Object.keys(chosen.body.Resources[0]).filter((key) => !allowed.has(key))).toEqual([]);
        }
      }
    }
  });
});

it('contains every characteristic of RFC 7643 §7 for each attribute, and no null', async () => {
  const { body, text } = await project.request('GET', '/Schemas');
  expect(text).not.toContain('null');
  expect(body.Resources.map(({ name }: Document) => name).sort()).toEqual([
    'ApplicationRole',
    'CustomUser',
    'EnterpriseUser',
    'Entitlement',
    'Group',
    'ResourceType',
    'Role',
    'Schema',
    'ServiceProviderConfig',
    'User',
  ]);
  const check = (attribute: Announced, isCustom: boolean) => {
    expect(attribute).toMatchObject({
      name: expect.any(String),
      type: expect.stringMatching(/^(string|boolean|integer|decimal|dateTime|reference|binary|complex)$/),
      multiValued: expect.any(Boolean),
      description: isCustom ? expect.any(String) : expect.stringMatching(/\S/),
      required: expect.any(Boolean),
      mutability: expect.stringMatching(/^(readOnly|readWrite|immutable)$/),
      returned: expect.stringMatching(/^(always|default)$/),
    });
    expect(attribute.subAttributes !== undefined).toBe(attribute.type === 'complex');
    for (const part of attribute.subAttributes ?? []) check(part, isCustom);
  };
  for (const { name, attributes } of body.Resources as Document[]) {
    for (const attribute of attributes) check(attribute, name === 'CustomUser');
  }
  for (const { id, meta } of body.Resources as { id: string; meta: { location: string } }[]) {
    expect((await project.request('GET', meta.location)).body).toMatchObject({ id });
  }
  expect(app.bugs).toEqual([]);
});
