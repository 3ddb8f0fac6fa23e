import { field } from '../patch-operations.ts';
import type { Projection } from '../projection.ts';
import { invalid } from '../schema/values.ts';
import { badRequest } from '../scim-error.ts';

/** Maximum and default number of resources in a page (service.md 8). */
export const maxPageSize = 100;

/** A search, its order and the requested page (RFC 7644 §3.4.2, RFC 9865). */
export interface SearchRequest extends Projection {
  filter: string | undefined;
  sortBy: string | undefined;
  descending: boolean;
  /** 1-based. */
  startIndex: number;
  /** 0…{@link maxPageSize}; 0 returns totals only. */
  count: number;
  /** Set for paging by cursor; empty for the first page. */
  cursor: string | undefined;
}

const parameters = [
  'filter',
  'sortBy',
  'sortOrder',
  'startIndex',
  'count',
  'cursor',
  'attributes',
  'excludedAttributes',
] as const;
type Parameter = (typeof parameters)[number];

/** Parses the query of a GET. Names in any case, each at most once. Throws `invalidValue` and others. */
export function searchOfQuery(query: string): SearchRequest {
  const values = new Map<Parameter, string>();
  const repeated: Parameter[] = [];
  for (const [name, value] of new URLSearchParams(plusEncoded(query))) {
    const parameter = parameters.find((each) => each.toLowerCase() === name.toLowerCase());
    if (!parameter) continue;
    if (values.has(parameter)) repeated.push(parameter);
    values.set(parameter, value);
  }
  const [twice] = repeated;
  if (twice) throw badRequest(keywordOf(twice, values.has('cursor')), `${twice} occurs more than once.`);
  return searchOf((name) => values.get(name));
}

/**
 * A query in which every `+` is a space. One in a value with `%20` is a plus sign: such a value is percent-encoded (RFC 3986),
 * not form-encoded, as Entra ID's.
 */
export function plusEncoded(query: string): string {
  const encoded = (part: string) => (part.includes('%20') ? part.replaceAll('+', '%2B') : part);
  return query.includes('+') ? query.split('&').map(encoded).join('&') : query;
}

/** Parses the body of `.search` (RFC 7644 §3.4.3). */
export function searchOfBody(body: Record<string, unknown>): SearchRequest {
  return searchOf((name) => {
    const value = field(body, name) ?? undefined;
    if (name === 'attributes' || name === 'excludedAttributes') return listed(name, value);
    const isNumber = name === 'count' || name === 'startIndex';
    if (typeof value === 'number' && isNumber) return String(value);
    if (value === undefined || typeof value === 'string') return value;
    const byCursor = (field(body, 'cursor') ?? undefined) !== undefined;
    throw badRequest(keywordOf(name, byCursor), `${name} must be ${isNumber ? 'an integer' : 'a string'}.`);
  });
}

function searchOf(value: (name: Parameter) => string | undefined): SearchRequest {
  const cursor = value('cursor');
  const order = value('sortOrder')?.toLowerCase() || 'ascending';
  if (order !== 'ascending' && order !== 'descending') throw invalid('sortOrder', 'must be ascending or descending');
  return {
    // An empty filter is invalid: it must not list all users.
    filter: value('filter'),
    sortBy: value('sortBy') || undefined,
    descending: order === 'descending',
    startIndex: Math.max(1, integer('startIndex', value('startIndex')) ?? 1),
    count: pageSize(integer('count', value('count'), cursor !== undefined) ?? maxPageSize, cursor !== undefined),
    cursor,
    attributes: names(value('attributes')),
    excludedAttributes: names(value('excludedAttributes')),
  };
}

/** Parses `attributes` and `excludedAttributes` of a query. */
export function projectionOfQuery(query: string): Projection {
  const { attributes, excludedAttributes } = searchOfQuery(query);
  return { attributes, excludedAttributes };
}

function listed(name: Parameter, value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join(',');
  throw invalid(name, 'must be a list of names');
}

function names(list: string | undefined): string[] {
  return (list ?? '').split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
}

/** A count above the limit is lowered (RFC 7644 §3.4.2.4), and invalid by cursor (RFC 9865 §2.1). */
function pageSize(count: number, byCursor: boolean): number {
  if (byCursor && count > maxPageSize) {
    throw badRequest('invalidCount', `count must be between 0 and ${maxPageSize}.`);
  }
  return Math.min(maxPageSize, Math.max(0, count));
}

function integer(name: 'startIndex' | 'count', text: string | undefined, byCursor = false): number | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  if (!/^[+-]?\d+$/.test(text.trim())) {
    throw badRequest(keywordOf(name, byCursor), `${name} must be an integer.`);
  }
  return Math.max(-1, Math.min(Number(text), Number.MAX_SAFE_INTEGER));
}

/** The keyword for a parameter that cannot be read (RFC 7644 §3.12, RFC 9865 §2.1). */
function keywordOf(parameter: Parameter, byCursor: boolean) {
  if (parameter === 'filter') return 'invalidFilter' as const;
  if (parameter === 'cursor') return 'invalidCursor' as const;
  if (parameter === 'count' && byCursor) return 'invalidCount' as const;
  return 'invalidValue' as const;
}
