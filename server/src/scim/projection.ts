import type { Resource } from './patch.ts';
import { isObject } from './patch-operations.ts';
import { type ResourceType, resolve } from './schema/resource-type.ts';

/** The attributes in a response (RFC 7644 §3.9); all by default. */
export interface Projection {
  attributes: readonly string[];
  excludedAttributes: readonly string[];
  /** The client prefers no body after a change (RFC 7240 §4.2, `return=minimal`). */
  isMinimal?: boolean;
}

export const wholeResource: Projection = { attributes: [], excludedAttributes: [] };

/** For an answer of which only version and location are used. */
export const idAlone: Projection = { attributes: ['id'], excludedAttributes: [] };

/** Whether a change may be answered without a body: RFC 7644 §3.5.2 wants one if `attributes` is given. */
export function wantsNoBody({ attributes, isMinimal = false }: Projection): boolean {
  return isMinimal && attributes.length === 0;
}

/** The requested names: a whole attribute or some of its parts; those of an extension under its URN. */
interface Named {
  all: boolean;
  parts: Map<string, Named>;
}

/** The requested part of `resource`, always with `id` and `schemas`. Unknown names are ignored. */
export function project(
  type: ResourceType,
  resource: Resource,
  { attributes, excludedAttributes }: Projection,
): Resource {
  if (attributes.length > 0) {
    const wanted = named(type, [...attributes, 'id', 'schemas']);
    return only(resource, wanted);
  }
  if (excludedAttributes.length === 0) return resource;
  const unwanted = named(type, excludedAttributes);
  unwanted.parts.delete('id');
  unwanted.parts.delete('schemas');
  return without(resource, unwanted);
}

/** Whether the response shows `attribute`; if not, it need not be read. */
export function shows(type: ResourceType, { attributes, excludedAttributes }: Projection, attribute: string): boolean {
  if (attributes.length > 0) return named(type, attributes).parts.has(attribute);
  return named(type, excludedAttributes).parts.get(attribute)?.all !== true;
}

function named(type: ResourceType, names: readonly string[]): Named {
  const root: Named = { all: false, parts: new Map() };
  for (const name of names) {
    const target = resolve(type, name.trim());
    if (target?.kind === 'schema') {
      if (target.schema !== type.schema) mark(root, [target.schema.id]);
      else for (const { name: each } of type.schema.attributes) mark(root, [each]);
    }
    if (target?.kind !== 'attribute') continue;
    const { attribute, sub, extension } = target;
    mark(root, [...(extension ? [extension.id] : []), attribute.name, ...(sub ? [sub.name] : [])]);
  }
  return root;
}

function mark(root: Named, path: readonly string[]): void {
  let at = root;
  for (const name of path) {
    const next = at.parts.get(name) ?? { all: false, parts: new Map() };
    at.parts.set(name, next);
    at = next;
  }
  at.all = true;
}

function only(value: Resource, wanted: Named): Resource {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => {
      const part = wanted.parts.get(name);
      if (!part) return [];
      if (part.all) return [[name, each] as const];
      return [[name, inside(each, (complex) => only(complex, part))] as const];
    }),
  );
}

function without(value: Resource, unwanted: Named): Resource {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => {
      const part = unwanted.parts.get(name);
      if (!part) return [[name, each] as const];
      if (part.all) return [];
      return [[name, inside(each, (complex) => without(complex, part))] as const];
    }),
  );
}

function inside(value: unknown, change: (complex: Resource) => Resource): unknown {
  if (Array.isArray(value)) return value.map((each) => inside(each, change));
  return isObject(value) ? change(value) : value;
}
