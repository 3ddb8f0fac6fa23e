import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { system } from '../src/domain/kernel/actor.ts';
import { keyIn } from '../src/domain/projects/tenant.ts';
import { scalarTypes } from '../src/domain/users/custom/custom-schema.entity.ts';
import { type ScimApp, type ScimProject, type ScimReply, startScimApp } from './scim-app.ts';

/** An attribute as in `/Schemas`. */
export interface Attribute {
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

export interface TypeDocument {
  id: string;
  endpoint: string;
  schema: string;
  schemaExtensions: { schema: string }[];
}

/** An attribute or sub-attribute with its place. */
export interface Leaf {
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

export type Values = Record<string, unknown>;

/** Custom attributes with every characteristic, and complex ones of every type. */
async function defineCustomAttributes(app: ScimApp, { id }: ScimProject): Promise<void> {
  const make = (name: string, more: object) =>
    app.services.customAttributes.create(id, { name, type: 'string', ...more }, system);
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

const title = ({ type, path }: Leaf) =>
  [`${type.id} ${path.replace(/^.*:/, '')} (${path.replace(/:[^:]*$/, '')})`] as const;
export const named = (chosen: readonly Leaf[]) => chosen.map((leaf) => [title(leaf)[0], leaf] as const);
/** The parts of a read-only attribute are read-only. */
const mutabilityOf = ({ attribute, own }: Leaf) => (attribute.mutability === 'readOnly' ? 'readOnly' : own.mutability);
export const isOn = (leaf: Leaf, mutability: Attribute['mutability']) => mutabilityOf(leaf) === mutability;
export const isScalar = ({ own }: Leaf) => own.type !== 'complex';
export const isText = ({ own }: Leaf) => ['string', 'reference', 'binary'].includes(own.type);
/** A value that can be written. */
export const isInput = (leaf: Leaf) => mutabilityOf(leaf) !== 'readOnly';
export const isShown = ({ own, attribute }: Leaf) => own.returned !== 'never' && attribute.returned !== 'never';

/** Email addresses and login phones have a format. */
function formatted(parent: string): string {
  if (parent === 'phoneNumbers') return `+49${String(Math.random()).slice(2, 13).padEnd(11, '1')}`;
  return parent === 'emails' ? `aZ${randomUUID()}@example.com` : `aZ${randomUUID()}`;
}

export function put(body: Values, { extension, attribute }: Leaf, value: unknown): void {
  const inside = extension === undefined ? body : ((body[extension] ??= {}) as Values);
  if (value === undefined) delete inside[attribute.name];
  else inside[attribute.name] = value;
}

/** The values at the leaf in a response. */
export function shown(body: Values, { extension, attribute, sub }: Leaf): unknown[] {
  const inside = extension === undefined ? body : ((body[extension] ?? {}) as Values);
  const value = inside[attribute.name];
  const all = value === undefined ? [] : Array.isArray(value) ? value : [value];
  return sub ? all.map((each) => (each as Values)[sub.name]).filter((each) => each !== undefined) : all;
}

export const refused = (reply: ScimReply, scimType: string, status = 400) =>
  expect([reply.status, reply.body?.scimType, reply.text]).toEqual([status, scimType, reply.text]);

/**
 * The schemas and resource types that a project declares, with values that fit, to try each characteristic (RFC 7643 §7)
 * over HTTP. The project has custom attributes with every characteristic, and a role.
 */
export class Declared {
  readonly leaves: readonly Leaf[];
  readonly writableTypes: readonly TypeDocument[];

  private constructor(
    readonly app: ScimApp,
    readonly project: ScimProject,
    readonly types: readonly TypeDocument[],
    private readonly schemas: ReadonlyMap<string, SchemaDocument>,
  ) {
    this.leaves = types.flatMap((type) => this.leavesOf(type));
    this.writableTypes = types.filter((type) => this.isWritable(type));
  }

  static async start(): Promise<Declared> {
    const app = await startScimApp();
    const project = await app.project();
    await defineCustomAttributes(app, project);
    const application = (await app.make.client({ id: project.id } as never)).client;
    const role = { key: 'editor', name: 'Editor', description: 'Edits pages' };
    await app.services.roles.create(keyIn(project.id, application.id), role, system);
    const types = (await project.request('GET', '/ResourceTypes')).body.Resources as TypeDocument[];
    const documents = (await project.request('GET', '/Schemas')).body.Resources as SchemaDocument[];
    return new Declared(app, project, types, new Map(documents.map((schema) => [schema.id, schema])));
  }

  leavesOf(type: TypeDocument): Leaf[] {
    const extensions = type.schemaExtensions.map(({ schema }) => schema);
    return [undefined, ...extensions].flatMap((extension) => {
      const urn = extension ?? type.schema;
      return (this.schemas.get(urn)?.attributes ?? []).flatMap((attribute) => {
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

  isWritable({ schema }: TypeDocument): boolean {
    return (this.schemas.get(schema)?.attributes ?? []).some(({ mutability }) => mutability !== 'readOnly');
  }

  /** An existing resource of a type that a reference may name. */
  async target(names: readonly string[]): Promise<{ id: string; location: string }> {
    const type = this.types.find(({ id }) => names.includes(id));
    if (!type) throw new Error(`no type of ${names}`);
    const { body } = await this.created(await this.whole(type));
    return { id: body.id, location: body.meta.location };
  }

  /** A new value of one attribute, not wrapped in a list. */
  async sample(attribute: Attribute, parent = ''): Promise<unknown> {
    switch (attribute.type) {
      case 'complex':
        return this.complex(attribute);
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

  async valueOf(attribute: Attribute): Promise<unknown> {
    const one = await this.sample(attribute);
    return attribute.multiValued ? [one] : one;
  }

  /** A body with the required attributes, and `value` at `leaf` if given. */
  async whole(type: TypeDocument, leaf?: Leaf, value?: unknown): Promise<{ type: TypeDocument; body: Values }> {
    const body: Values = { schemas: [type.schema, ...type.schemaExtensions.map(({ schema }) => schema)] };
    for (const each of this.leavesOf(type)) {
      if (each.sub || !each.attribute.required || !isInput(each)) continue;
      put(body, each, await this.valueOf(each.attribute));
    }
    if (leaf) put(body, leaf, value);
    return { type, body };
  }

  /** The value of the whole attribute with `part` at the leaf. */
  async around({ attribute, sub }: Leaf, part: unknown): Promise<unknown> {
    if (!sub) return attribute.multiValued && !Array.isArray(part) ? [part] : part;
    const complex = { ...((await this.sample(attribute)) as Values), [sub.name]: part };
    return attribute.multiValued ? [complex] : complex;
  }

  /** A value of the whole attribute, and its part at the leaf. */
  async valued({ attribute, sub }: Leaf): Promise<{ value: unknown; part: unknown }> {
    const one = await this.sample(attribute);
    return { value: attribute.multiValued ? [one] : one, part: sub ? (one as Values)[sub.name] : one };
  }

  post({ type, body }: { type: TypeDocument; body: Values }): Promise<ScimReply> {
    return this.project.request('POST', type.endpoint, body);
  }

  async created(of: { type: TypeDocument; body: Values }): Promise<ScimReply> {
    const reply = await this.post(of);
    expect(reply.status, `${JSON.stringify(of.body)} ${reply.text}`).toBe(201);
    return reply;
  }

  async read(location: string, query = ''): Promise<Values> {
    return (await this.project.request('GET', `${location}${query}`)).body;
  }

  patch(location: string, op: string, path: string, value?: unknown): Promise<ScimReply> {
    return this.project.request('PATCH', location, {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op, path, ...(value === undefined ? {} : { value }) }],
    });
  }

  /** A resource with a value at the leaf, which is shown. */
  async holding(leaf: Leaf): Promise<{ location: string; value: unknown }> {
    if (!this.isWritable(leaf.type)) {
      const [resource] = (await this.project.request('GET', leaf.type.endpoint)).body.Resources;
      return { location: resource.meta.location, value: shown(resource, leaf)[0] };
    }
    if (!isInput(leaf)) return this.computed(leaf);
    const { value, part } = await this.valued(leaf);
    const { body } = await this.created(await this.whole(leaf.type, leaf, value));
    const again = await this.read(body.meta.location, `?attributes=${leaf.path}`);
    return { location: body.meta.location, value: isShown(leaf) ? shown(again, leaf)[0] : part };
  }

  private async complex(attribute: Attribute): Promise<Values> {
    const parts = (attribute.subAttributes ?? []).filter(({ mutability }) => mutability !== 'readOnly');
    const complex: Values = {};
    for (const part of parts) complex[part.name] = await this.sample(part, attribute.name);
    const reference = parts.find(({ name }) => name === '$ref');
    if (reference?.mutability !== 'immutable') return complex;
    // The parts that identify a resource must agree.
    const { id, location } = await this.target(reference.referenceTypes ?? []);
    return { value: id, $ref: location, type: location.includes('/Users/') ? 'User' : 'Group' };
  }

  /** A resource with a value that the server derives: of a user in a group, or of one with a manager. */
  private async computed(leaf: Leaf): Promise<{ location: string; value: unknown }> {
    const user = this.types.find(({ endpoint }) => endpoint === '/Users') as TypeDocument;
    const group = this.types.find(({ endpoint }) => endpoint === '/Groups') as TypeDocument;
    const nameOf = (type: TypeDocument) => this.leavesOf(type).find(({ own }) => own.name === 'displayName') as Leaf;
    const manager = (await this.created(await this.whole(user, nameOf(user), `aZ ${randomUUID()}`))).body;
    const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
    const { body } = await this.whole(user, nameOf(user), `aZ ${randomUUID()}`);
    const withManager = { ...body, [enterprise]: { manager: { value: manager.id } } };
    const member = (await this.created({ type: user, body: withManager })).body;
    const inGroup = { displayName: `aZ ${randomUUID()}`, members: [{ value: member.id }] };
    const holder = (await this.created({ type: group, body: inGroup })).body;
    if (leaf.extension !== undefined && leaf.attribute.mutability === 'readOnly') {
      const name = leaf.attribute.name;
      const values = { [name]: await this.valueOf(leaf.attribute) };
      await this.app.services.userEdits.editCustom(this.project.id, member.id, values, system);
    }
    const location = leaf.type === group ? holder.meta.location : member.meta.location;
    return { location, value: shown(await this.read(location), leaf)[0] };
  }
}
