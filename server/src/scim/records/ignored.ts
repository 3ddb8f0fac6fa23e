import { field, isObject, pathOf } from '../patch-operations.ts';
import { type Attribute, attributeNamed, type Schema } from '../schema/attribute.ts';
import { groupType, hasAliases, type ResourceType, userType } from '../schema/resource-type.ts';
import { ScimError } from '../scim-error.ts';

/** Maximum number of names that are kept per request. */
const maxNames = 100;

/**
 * The attributes of an accepted change that no schema has, whose values were dropped: by their names, those of an extension
 * after its URN. Excludes known attributes that are ignored, such as read-only ones and passwords.
 *
 * @param path below the project's base URL
 * @param users the type of the project's users
 */
export function ignoredAttributes(path: string, body: unknown, users: ResourceType = userType): string[] {
  const names = new Set<string>();
  collect([users, groupType], path, body, names);
  return [...names].slice(0, maxNames);
}

function collect(types: readonly ResourceType[], path: string, body: unknown, names: Set<string>): void {
  if (!isObject(body)) return;
  if (/^\/?Bulk(?=$|[/?])/i.test(path)) {
    for (const operation of listOf(field(body, 'Operations'))) {
      if (isObject(operation)) collect(types, textIn(operation, 'path'), field(operation, 'data'), names);
    }
    return;
  }
  const [, endpoint] = /^(\/?[A-Za-z]+)(?=$|[/?])(?!\/\.search)/.exec(path) ?? [];
  const type = types.find((each) => each.endpoint.slice(1) === endpoint?.replace('/', ''));
  if (!type) return;
  const operations = field(body, 'Operations');
  if (operations === undefined) return inObject(type, body, type.schema, names);
  for (const operation of listOf(operations)) if (isObject(operation)) inOperation(type, operation, names);
}

function inOperation(type: ResourceType, operation: Record<string, unknown>, names: Set<string>): void {
  const path = field(operation, 'path');
  const value = field(operation, 'value');
  if (textIn(operation, 'op').toLowerCase() === 'remove') return;
  if (typeof path === 'string' && path.trim() !== '') inValue(type, path, value, names);
  else if (isObject(value)) inObject(type, value, type.schema, names);
}

function inObject(type: ResourceType, value: Record<string, unknown>, schema: Schema, names: Set<string>): void {
  for (const [name, each] of Object.entries(value)) {
    if (names.size >= maxNames) return;
    inValue(type, schema === type.schema || /^urn:/i.test(name) ? name : `${schema.id}:${name}`, each, names);
  }
}

/** @param name an attribute's name or path */
function inValue(type: ResourceType, name: string, value: unknown, names: Set<string>): void {
  const target = targetOf(type, name);
  if (target === undefined || target.kind === 'ignored') {
    const own = `${type.schema.id}:`.toLowerCase();
    if (type.dropped.includes(name.toLowerCase().replace(own, ''))) return;
    if (!/^urn:/i.test(name) || !isObject(value)) names.add(name);
    else if (hasAliases(type, name)) inObject(type, value, { ...type.schema, id: name }, names);
    else for (const part of Object.keys(value)) names.add(`${name}:${part}`);
  } else if (target.kind === 'schema') {
    if (isObject(value)) inObject(type, value, target.schema, names);
  } else if (!target.target.sub) inParts(target.target.attribute, value, name, names);
}

function inParts({ subAttributes, type }: Attribute, value: unknown, name: string, names: Set<string>): void {
  if (type !== 'complex') return;
  for (const element of listOf(value)) {
    if (!isObject(element)) continue;
    for (const part of Object.keys(element)) {
      if (!attributeNamed(subAttributes, part)) names.add(`${name.replace(/\[.*/s, '')}.${part}`);
    }
  }
}

function targetOf(type: ResourceType, name: string) {
  try {
    return pathOf(type, name);
  } catch (error) {
    if (error instanceof ScimError) return undefined;
    throw error;
  }
}

/** Empty if the field is not a string. */
function textIn(message: Record<string, unknown>, name: string): string {
  const value = field(message, name);
  return typeof value === 'string' ? value : '';
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}
