import { comparableInstant } from '../../domain/kernel/instant.ts';
import { foldCase } from '../../domain/users/login.ts';
import type { Attribute } from '../schema/attribute.ts';
import type { Comparison, ElementFilter, Literal } from './ast.ts';

type Element = Readonly<Record<string, unknown>>;

/** A compiled filter of elements. */
export interface Matcher {
  meets(element: Element): boolean;
  /** Maximum comparisons per element. */
  terms: number;
}

/** Compiles the filter once for many elements. */
export function matcherOf(filter: ElementFilter): Matcher {
  switch (filter.kind) {
    case 'and': {
      const terms = filter.terms.map(matcherOf);
      return { meets: (element) => terms.every((term) => term.meets(element)), terms: sum(terms) };
    }
    case 'or': {
      const terms = filter.terms.map(matcherOf);
      return { meets: (element) => terms.some((term) => term.meets(element)), terms: sum(terms) };
    }
    case 'not': {
      const { meets, terms } = matcherOf(filter.term);
      return { meets: (element) => !meets(element), terms };
    }
    case 'present':
      return { meets: (element) => isPresent(partOf(element, filter.ref)), terms: 1 };
    case 'compare': {
      const compares = comparing(filter.ref, filter.comparison, filter.value);
      return { meets: (element) => compares(partOf(element, filter.ref)), terms: 1 };
    }
    case 'element':
      return { meets: () => false, terms: 0 };
  }
}

const sum = (matchers: readonly Matcher[]) => matchers.reduce((total, { terms }) => total + terms, 0);

/** A part of an element; an element without parts is its own value. */
function partOf(element: Element, { name }: Attribute): unknown {
  return typeof element === 'object' ? element[name] : element;
}

/** `pr`: present and not blank (RFC 7644 §3.4.2.2). */
function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function comparing(attribute: Attribute, comparison: Comparison, wanted: Literal): (actual: unknown) => boolean {
  if (comparison === 'ne') {
    const equals = comparing(attribute, 'eq', wanted);
    return (actual) => !equals(actual);
  }
  if (attribute.type === 'boolean') return (actual) => (actual ?? attribute.absentMeans) === wanted;
  if (typeof wanted === 'number') return (actual) => typeof actual === 'number' && holds(comparison, actual - wanted);
  if (attribute.read && attribute.type === 'dateTime') return comparingInstant(comparison, String(wanted));
  const fold = attribute.caseExact ? (text: string) => text : foldCase;
  const right = fold(String(wanted));
  const compares = comparingText(comparison, right);
  return (actual) => typeof actual === 'string' && compares(fold(actual));
}

function comparingText(comparison: Exclude<Comparison, 'ne'>, right: string): (left: string) => boolean {
  switch (comparison) {
    case 'eq':
      return (left) => left === right;
    case 'co':
      return (left) => left.includes(right);
    case 'sw':
      return (left) => left.startsWith(right);
    case 'ew':
      return (left) => left.endsWith(right);
    default: {
      const bytes = Buffer.from(right);
      return (left) => ordered(comparison, Buffer.compare(Buffer.from(left), bytes));
    }
  }
}

/** Instants of custom attributes are stored in UTC with milliseconds. */
function comparingInstant(comparison: Exclude<Comparison, 'ne'>, wanted: string): (actual: unknown) => boolean {
  const isText = comparison === 'co' || comparison === 'sw' || comparison === 'ew';
  const right = isText ? wanted.toUpperCase() : comparableInstant(wanted);
  const compares = comparingText(comparison, right);
  return (actual) => typeof actual === 'string' && compares(actual);
}

function holds(comparison: Exclude<Comparison, 'ne'>, order: number): boolean {
  return comparison === 'eq' ? order === 0 : ordered(comparison as 'gt', order);
}

function ordered(comparison: 'gt' | 'ge' | 'lt' | 'le', order: number): boolean {
  if (comparison === 'gt') return order > 0;
  if (comparison === 'ge') return order >= 0;
  if (comparison === 'lt') return order < 0;
  return order <= 0;
}
