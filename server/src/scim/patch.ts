import { isDeepStrictEqual } from 'node:util';
import { foldCase } from '../domain/users/login.ts';
import type { ElementFilter } from './filter/ast.ts';
import { type Matcher, matcherOf } from './filter/evaluate.ts';
import type { DropStep, PatchStep } from './patch-operations.ts';
import { isObject } from './patch-operations.ts';
import {
  type Attribute,
  attributeNamed,
  defaultSubAttribute,
  isHidden,
  isReadOnly,
  type Schema,
} from './schema/attribute.ts';
import type { AttributeTarget } from './schema/resource-type.ts';
import {
  type Complex,
  invalid,
  isBlank,
  maxElements,
  normalized,
  readElements,
  readSingle,
  readValue,
  unwrapped,
} from './schema/values.ts';
import { badRequest } from './scim-error.ts';

/** The writable part of a resource by the schema's names; extensions under their URN. */
export type Resource = Record<string, unknown>;

/** Maximum number of values that one PATCH compares: far more than directories need, and still under a second. */
const maxCost = 200_000;
/**
 * Characters that cost as much as one more value: otherwise comparing a few long values would take most of a minute.
 */
const charactersOfValue = 256;

/** The values that a PATCH has compared so far. Its steps run synchronously, so the cost of all is limited. */
export class PatchCost {
  private values = 0;

  /** Throws `tooMany`. */
  add(values: number): void {
    this.values += values;
    if (this.values > maxCost) {
      throw badRequest('tooMany', 'The operations compare too many values. Send them in several requests.');
    }
  }
}

/** The cost of comparing each of these values once. */
function weightOf(values: readonly unknown[]): number {
  return values.length + Math.floor(charactersIn(values) / charactersOfValue);
}

/** The cost of comparing each value of one list with each value of the other. */
function weightOfPairs(these: readonly unknown[], those: readonly unknown[]): number {
  const characters = these.length * charactersIn(those) + those.length * charactersIn(these);
  return these.length * those.length + Math.floor(characters / charactersOfValue);
}

function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((total, part) => total + charactersIn(part), 0);
}

/** Applies one step to `resource`, in place (RFC 7644 §3.5.2.1–3). */
export function applyStep(resource: Resource, step: PatchStep | DropStep, cost = new PatchCost()): void {
  if (step.op === 'drop') {
    dropExtension(resource, step.schema);
    return;
  }
  const { target, filter } = step.path;
  const container = containerOf(resource, target);
  const next = target.attribute.multiValued
    ? severalAfter(container[target.attribute.name] as Complex[] | undefined, step, filter, cost)
    : singleAfter(container[target.attribute.name], step);
  if (next === undefined && target.attribute.required) {
    throw step.op === 'remove'
      ? badRequest('mutability', `${target.attribute.name} is required and cannot be removed.`)
      : invalid(target.attribute.name, 'is required');
  }
  if (next === undefined) delete container[target.attribute.name];
  else container[target.attribute.name] = next;
  const { extension } = target;
  if (extension && Object.keys(container).length === 0) delete resource[extension.id];
}

/** Removes the attributes of an extension that clients can write. */
function dropExtension(resource: Resource, { id, attributes }: Schema): void {
  const values = resource[id];
  if (!isObject(values)) return;
  const required = attributes.find((attribute) => attribute.required && Object.hasOwn(values, attribute.name));
  if (required) throw badRequest('mutability', `${required.name} is required and cannot be removed.`);
  const kept = attributes.flatMap((attribute) =>
    isReadOnly(attribute) && Object.hasOwn(values, attribute.name) ? [[attribute.name, values[attribute.name]]] : [],
  );
  if (kept.length > 0) resource[id] = Object.fromEntries(kept);
  else delete resource[id];
}

function containerOf(resource: Resource, { extension }: AttributeTarget): Record<string, unknown> {
  if (!extension) return resource;
  const present = resource[extension.id];
  if (isObject(present)) return present;
  const container = {};
  resource[extension.id] = container;
  return container;
}

function singleAfter(current: unknown, { op, path, value }: PatchStep): unknown {
  const { attribute, sub } = path.target;
  if (op === 'remove' && path.filter && !matches(path.filter, current)) return current;
  if (op === 'remove') return sub ? withoutPart(current, sub) : undefined;
  if (sub) return merged(attribute, current, { [sub.name]: value });
  if (attribute.type !== 'complex') return readSingle(attribute, value, attribute.name);
  return merged(attribute, current, unwrapped(attribute, value));
}

function matches(filter: ElementFilter, current: unknown): boolean {
  return current !== undefined && matcherOf(filter).meets(current as Complex);
}

/** Merges the parts in `value` into a complex value. */
function merged(attribute: Attribute, current: unknown, value: unknown): Complex | undefined {
  if (value === null) return undefined;
  const before = isObject(current) ? current : {};
  const given = readSingle(attribute, value, attribute.name) as Complex | undefined;
  if (given === undefined && (!isObject(value) || hasBlankValue(value))) return undefined;
  const next: Complex = { ...before, ...given };
  for (const name of isObject(value) ? clearedParts(attribute, value) : []) delete next[name];
  // The value has changed, so the old $ref would be wrong.
  if (next['value'] !== before['value'] && given?.['$ref'] === undefined) delete next['$ref'];
  return Object.keys(next).length === 0 ? undefined : next;
}

function clearedParts(attribute: Attribute, value: Complex): string[] {
  return Object.entries(value).flatMap(([name, part]) => {
    const sub = attributeNamed(attribute.subAttributes, name);
    const clears = part === null || (sub === defaultSubAttribute(attribute) && isBlank(part));
    return sub && clears && !isReadOnly(sub) ? [sub.name] : [];
  });
}

function hasBlankValue(value: Complex): boolean {
  return Object.entries(value).some(([name, part]) => name.toLowerCase() === 'value' && isBlank(part));
}

function withoutPart(current: unknown, sub: Attribute): Complex | undefined {
  if (!isObject(current)) return undefined;
  const { [sub.name]: _, ...rest } = current;
  return Object.keys(rest).length === 0 ? undefined : rest;
}

function severalAfter(
  current: readonly Complex[] = [],
  { op, path, value }: PatchStep,
  filter: ElementFilter | undefined,
  cost: PatchCost,
): Complex[] | undefined {
  const { attribute, sub } = path.target;
  if (isHidden(attribute) && current.length > 0) refuseSingleValues(attribute, op, value);
  const matcher = filter && matcherOf(filter);
  cost.add((weightOf(current) + 1) * Math.max(1, matcher?.terms ?? 0));
  if (attribute.type !== 'complex') return plainAfter(current, { op, path, value }, matcher, cost);
  if (op === 'remove') return assigned(attribute, removed(current, path.target, matcher, value, cost));
  // A replacement by null or a blank value removes the elements.
  if (op === 'replace' && filter && !sub && (value === null || isBlank(value))) {
    return assigned(attribute, removed(current, path.target, matcher, undefined, cost));
  }
  if (!filter && !sub) {
    const given = readValue(attribute, value) as Complex[] | undefined;
    cost.add(weightOf(given ?? []));
    return assigned(attribute, op === 'add' ? bounded(attribute, [...current, ...(given ?? [])]) : (given ?? []));
  }
  const parts = partsOf(attribute, sub, value);
  const chosen = current.map((element) => matcher === undefined || matcher.meets(element));
  const last = chosen.lastIndexOf(true);
  if (last >= 0) {
    const next = current.map((element, index) => (chosen[index] ? changedBy(element, parts) : element));
    const one = withOnePrimary(next, parts['primary'] === true ? last : undefined);
    const clears = Object.values(parts).includes(null);
    return assigned(
      attribute,
      clears ? one.filter((element, index) => !chosen[index] || !isEmptyElement(attribute, element)) : one,
    );
  }
  const seed = filter ? seedOf(filter) : {};
  if (!seed) throw badRequest('noTarget', `No element of ${attribute.name} matches the filter of the path.`);
  const created = readElements(attribute, { ...seed, ...parts });
  return assigned(attribute, bounded(attribute, [...current, ...(created ?? [])]));
}

/**
 * Refuses `mutability` for single values of a list that is never returned. The limits on their number and size, and
 * `required`, would reveal whether the list has a value.
 */
function refuseSingleValues({ name }: Attribute, op: PatchStep['op'], value: unknown): void {
  const isWhole = op === 'replace' || (op === 'remove' && (value === undefined || value === null));
  if (isWhole) return;
  throw badRequest('mutability', `${name} is never returned and has values: replace or remove it as a whole.`);
}

/** The values of an attribute without parts. */
function plainAfter(
  current: readonly unknown[],
  { op, path, value }: PatchStep,
  matcher: Matcher | undefined,
  cost: PatchCost,
): Complex[] | undefined {
  const { attribute } = path.target;
  const given: readonly unknown[] = readElements(attribute, value) ?? [];
  cost.add(weightOfPairs(current, given));
  const isChosen = (each: unknown) => {
    if (matcher) return matcher.meets(each as Complex);
    return op === 'replace' || (op === 'remove' && (value == null || given.some((other) => agrees(each, other))));
  };
  const kept = current.filter((each) => !isChosen(each));
  if (op !== 'remove' && matcher && kept.length === current.length) {
    throw badRequest('noTarget', `No value of ${attribute.name} matches the filter of the path.`);
  }
  const next = normalized(attribute, [...kept, ...(op === 'remove' ? [] : given)] as Complex[]);
  return next.length === 0 ? undefined : bounded(attribute, next);
}

/** The parts to set in each matching element; null removes a part. */
function partsOf(attribute: Attribute, sub: Attribute | undefined, value: unknown): Complex {
  if (sub) {
    const isUnassigned = sub === defaultSubAttribute(attribute) && isBlank(value);
    if (isUnassigned) return { [sub.name]: null };
    return (
      (readSingle(attribute, { [sub.name]: value }, attribute.name) as Complex | undefined) ?? { [sub.name]: null }
    );
  }
  const whole = Array.isArray(value) && value.length === 1 ? value[0] : value;
  const given = readSingle(attribute, whole, attribute.name) as Complex | undefined;
  const cleared = isObject(whole) ? clearedParts(attribute, whole) : [];
  return { ...given, ...Object.fromEntries(cleared.map((name) => [name, null])) };
}

function changedBy(element: Complex, parts: Complex): Complex {
  const next = { ...element, ...parts };
  return Object.fromEntries(Object.entries(next).filter(([, part]) => part !== null));
}

function removed(
  current: readonly Complex[],
  { attribute, sub }: AttributeTarget,
  matcher: Matcher | undefined,
  value: unknown,
  cost: PatchCost,
): Complex[] {
  const chosen = (element: Complex) => matcher === undefined || matcher.meets(element);
  if (sub) {
    return current.flatMap((element) => {
      if (!chosen(element)) return [element];
      const { [sub.name]: _, ...rest } = element;
      return isEmptyElement(attribute, rest) ? [] : [rest];
    });
  }
  if (matcher || value === undefined || value === null) return current.filter((element) => !chosen(element));
  // Entra ID lists the elements to remove in the value.
  const named = readElements(attribute, value) ?? [];
  cost.add(weightOfPairs(current, named));
  return current.filter((element) => !named.some((each) => agrees(element, each)));
}

/** Whether only the parts that identify the element are left. */
function isEmptyElement(attribute: Attribute, element: Complex): boolean {
  const remaining = Object.keys(element).filter((name) => !['type', 'primary', 'display'].includes(name));
  return remaining.length === 0 && (defaultSubAttribute(attribute) !== undefined || Object.keys(element).length === 0);
}

function agrees(element: unknown, named: unknown): boolean {
  if (isObject(named) && isObject(element)) {
    return Object.entries(named).every(([name, part]) => agrees(element[name], part));
  }
  if (typeof named === 'string' && typeof element === 'string') return foldCase(named) === foldCase(element);
  return isDeepStrictEqual(named, element);
}

/** The element to create for `attr eq value` if none matches. */
function seedOf(filter: ElementFilter): Complex | undefined {
  return filter.kind === 'compare' && filter.comparison === 'eq' ? { [filter.ref.name]: filter.value } : undefined;
}

/** Keeps one primary value: the one at `chosen`, else the last. */
function withOnePrimary(elements: readonly Complex[], chosen: number | undefined): Complex[] {
  const primary = chosen ?? elements.findLastIndex((element) => element['primary'] === true);
  return elements.map((element, index) =>
    element['primary'] === true && index !== primary ? { ...element, primary: false } : element,
  );
}

function bounded(attribute: Attribute, elements: Complex[]): Complex[] {
  if (elements.length > maxElements) throw invalid(attribute.name, `has more than ${maxElements} values`);
  return elements;
}

/** Merges equal elements; an empty list is not a value. */
function assigned(attribute: Attribute, elements: Complex[]): Complex[] | undefined {
  const filled = normalized(
    attribute,
    elements.filter((element) => Object.keys(element).length > 0),
  );
  return filled.length === 0 ? undefined : filled;
}
