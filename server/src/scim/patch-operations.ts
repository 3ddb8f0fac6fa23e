import type { Path } from './filter/ast.ts';
import { parsePath } from './filter/parser.ts';
import { isReadOnly, type Schema } from './schema/attribute.ts';
import { type AttributeTarget, hasAliases, type ResourceType, resolve } from './schema/resource-type.ts';
import { invalid, plainValue } from './schema/values.ts';
import { badRequest } from './scim-error.ts';

type PatchOp = 'add' | 'replace' | 'remove';

/** One change of one attribute. */
export interface PatchStep {
  op: PatchOp;
  path: Extract<Path, { kind: 'attribute' }>;
  value: unknown;
}

/** Removes every attribute of an extension. */
export interface DropStep {
  op: 'drop';
  schema: Schema;
}

/** A field of a message by its name, ignoring case. */
export function field(message: Record<string, unknown>, name: string): unknown {
  const key = Object.keys(message).find((each) => each.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : message[key];
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The steps of a PATCH body (RFC 7644 §3.5.2), in order, with resolved paths and unchecked values. Unknown attributes are
 * `invalidPath` in a path, and ignored in a value without a path.
 */
export function* patchSteps(type: ResourceType, body: Record<string, unknown>): Generator<PatchStep | DropStep> {
  const operations = field(body, 'Operations');
  const list = isObject(operations) ? [operations] : operations;
  if (!Array.isArray(list)) throw badRequest('invalidSyntax', 'Operations must be a list.');
  for (const operation of list) {
    if (!isObject(operation)) throw badRequest('invalidSyntax', 'An operation must be an object.');
    yield* stepsOf(type, operation);
  }
}

function* stepsOf(type: ResourceType, operation: Record<string, unknown>): Generator<PatchStep | DropStep> {
  const op = opOf(field(operation, 'op'));
  const value = field(operation, 'value');
  const path = field(operation, 'path');
  if (path !== undefined && path !== null && typeof path !== 'string') {
    throw badRequest('invalidPath', 'path must be a string.');
  }
  if (op !== 'remove' && value === undefined) throw invalid('value', `is required for ${op}`);
  if (path === undefined || path === null || path.trim() === '') {
    if (op === 'remove') throw badRequest('noTarget', 'path is required for remove.');
    if (!isObject(value)) throw invalid('value', 'must be an object if there is no path');
    yield* entries(type, op, value);
    return;
  }
  yield* stepsAt(type, op, parsePath(type, path), value);
}

function opOf(op: unknown): PatchOp {
  const name = typeof op === 'string' ? op.toLowerCase() : undefined;
  if (name === 'add' || name === 'replace' || name === 'remove') return name;
  throw badRequest('invalidSyntax', 'op must be add, replace or remove.');
}

function* stepsAt(type: ResourceType, op: PatchOp, path: Path, value: unknown): Generator<PatchStep | DropStep> {
  if (path.kind === 'ignored') return;
  if (path.kind === 'attribute') {
    const { attribute, sub } = path.target;
    // It follows from the attributes: clients send it together with those of an extension.
    if (attribute.name === 'schemas') return;
    if (isReadOnly(attribute) || (sub && isReadOnly(sub))) {
      throw badRequest('mutability', `${attribute.name} is read-only.`);
    }
    yield stepOf(op, path, value);
    return;
  }
  const { schema } = path;
  if (op === 'remove' || value === null) {
    if (schema === type.schema) throw badRequest('mutability', 'The core schema cannot be removed.');
    yield { op: 'drop', schema };
    return;
  }
  if (!isObject(value)) throw invalid('value', 'must be an object of attributes');
  yield* entries(type, op, value, schema);
}

/**
 * The steps of an object of attributes. Accepts plain names, names with a dot, a URN or brackets, and extensions as
 * objects. Read-only attributes are ignored, because clients send back whole resources.
 */
export function* entries(
  type: ResourceType,
  op: 'add' | 'replace',
  value: Record<string, unknown>,
  schema: Schema = type.schema,
): Generator<PatchStep | DropStep> {
  const seen = new Set<string>();
  for (const [name, each] of Object.entries(value)) {
    const full = schema === type.schema || /^urn:/i.test(name) ? name : `${schema.id}:${name}`;
    const path = pathOf(type, full);
    if (path?.kind === 'ignored' && isObject(each) && hasAliases(type, name)) {
      yield* entries(type, op, Object.fromEntries(Object.entries(each).map(([part, own]) => [`${name}:${part}`, own])));
    }
    if (path === undefined || path.kind === 'ignored') continue;
    if (path.kind === 'schema') {
      yield* stepsAt(type, op, path, each);
      continue;
    }
    const { attribute, sub } = path.target;
    if (isReadOnly(attribute) || (sub && isReadOnly(sub))) continue;
    if (!sub && !path.filter) {
      const key = nameOf(path.target);
      if (seen.has(key)) throw badRequest('invalidSyntax', `${attribute.name} occurs twice.`);
      seen.add(key);
    }
    yield stepOf(op, path, each);
  }
}

function stepOf(op: PatchOp, path: PatchStep['path'], value: unknown): PatchStep {
  const { attribute, sub } = path.target;
  const isPlain = sub !== undefined || (!attribute.multiValued && attribute.type !== 'complex');
  return { op, path, value: isPlain ? plainValue(value) : value };
}

/** The target of an attribute's name or path in a value. Undefined if there is no such attribute. */
export function pathOf(type: ResourceType, name: string): Path | undefined {
  if (name.includes('[')) return parsePath(type, name);
  const target = resolve(type, name);
  return target?.kind === 'attribute' ? { kind: 'attribute', target } : target;
}

function nameOf({ attribute, extension }: AttributeTarget): string {
  return extension ? `${extension.id}:${attribute.name}` : attribute.name;
}
