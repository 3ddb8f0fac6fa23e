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

/** Custom attributes that the request has set: those returned on request come with the response (RFC 7643 §7). */
export type Asserted = ReadonlySet<string>;

export const wholeResource: Projection = { attributes: [], excludedAttributes: [] };

/** For a response of which only version and location are used. */
export const idAlone: Projection = { attributes: ['id'], excludedAttributes: [] };

/** Whether the response to a change may omit the body: RFC 7644 §3.5.2 requires one if `attributes` is given. */
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
  asserted: Asserted = new Set(),
): Resource {
  const always = returning(type, 'always');
  if (attributes.length > 0) {
    const wanted = named(type, [...attributes, 'id', 'schemas']);
    for (const path of always) mark(wanted, path);
    return filled(type, only(resource, wanted));
  }
  const unwanted = named(type, excludedAttributes);
  unwanted.parts.delete('id');
  unwanted.parts.delete('schemas');
  for (const [urn = '', name = ''] of always) keep(type, unwanted, urn, name);
  for (const path of returning(type, 'request')) if (!asserted.has(path[1] ?? '')) mark(unwanted, path);
  return unwanted.parts.size === 0 ? resource : filled(type, without(resource, unwanted));
}

/** The paths of custom attributes with this characteristic. */
function returning({ custom }: ResourceType, returned: 'always' | 'request'): string[][] {
  const attributes = custom?.attributes.filter((attribute) => attribute.returned === returned) ?? [];
  return attributes.map(({ name }) => [custom?.id ?? '', name]);
}

/** Removes an attribute from the unwanted ones. */
function keep({ custom }: ResourceType, unwanted: Named, urn: string, name: string): void {
  const extension = unwanted.parts.get(urn);
  if (!extension) return;
  if (extension.all) {
    extension.all = false;
    for (const each of custom?.attributes ?? []) mark(unwanted, [urn, each.name]);
  }
  extension.parts.delete(name);
}

/** Without the extension of custom attributes if nothing of it is left. */
function filled({ custom }: ResourceType, resource: Resource): Resource {
  const values = custom && resource[custom.id];
  if (!custom || !isObject(values) || Object.keys(values).length > 0) return resource;
  const { [custom.id]: _, ...rest } = resource;
  return rest;
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
      if (type.extensions.includes(target.schema)) mark(root, [target.schema.id]);
      else for (const { name: each } of target.schema.attributes) mark(root, [each]);
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
