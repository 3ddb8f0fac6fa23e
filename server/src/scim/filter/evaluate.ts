import { foldCase } from '../../domain/users/login.ts';
import type { Attribute } from '../schema/attribute.ts';
import type { Comparison, ElementFilter, Literal } from './ast.ts';

/** Whether one element of a multi-valued attribute meets what stands in brackets behind it. */
export function meets(element: Readonly<Record<string, unknown>>, filter: ElementFilter): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.terms.every((term) => meets(element, term));
    case 'or':
      return filter.terms.some((term) => meets(element, term));
    case 'not':
      return !meets(element, filter.term);
    case 'present':
      return isPresent(element[filter.ref.name]);
    case 'compare':
      return compare(filter.ref, element[filter.ref.name], filter.comparison, filter.value);
    case 'element':
      return false;
  }
}

/** `pr`: neither missing nor blank (RFC 7644 §3.4.2.2). */
export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function compare(attribute: Attribute, actual: unknown, comparison: Comparison, wanted: Literal): boolean {
  if (comparison === 'ne') return !compare(attribute, actual, 'eq', wanted);
  if (attribute.type === 'boolean') return (actual ?? attribute.absentMeans) === wanted;
  if (typeof actual !== 'string') return false;
  const [left, right] = attribute.caseExact ? [actual, String(wanted)] : [foldCase(actual), foldCase(String(wanted))];
  switch (comparison) {
    case 'eq':
      return left === right;
    case 'co':
      return left.includes(right);
    case 'sw':
      return left.startsWith(right);
    case 'ew':
      return left.endsWith(right);
    default:
      return ordered(comparison, Buffer.compare(Buffer.from(left), Buffer.from(right)));
  }
}

function ordered(comparison: 'gt' | 'ge' | 'lt' | 'le', order: number): boolean {
  if (comparison === 'gt') return order > 0;
  if (comparison === 'ge') return order >= 0;
  if (comparison === 'lt') return order < 0;
  return order <= 0;
}
