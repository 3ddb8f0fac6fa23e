import { externalIdMark, markOf } from '../../domain/directories/concerned.ts';
import { isStorableText } from '../../domain/kernel/secret.ts';
import { isE164 } from '../../domain/users/login.ts';
import { field, isObject } from '../patch-operations.ts';

/** The stored parts of a request, and the users that it found. */
interface Kept {
  /** Decoded, with the query. */
  path: string;
  requestBody: unknown;
  responseBody: unknown;
  /** The whole response. */
  found: unknown;
  /** Whether the request was refused: its filter may be malformed. */
  isRefused: boolean;
}

/** A search with more results concerns no particular user. */
const mostFound = 20;
const mostMarks = 500;
const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
/**
 * A comparison with a text, in a filter or path (RFC 7644 section 3.4.2.2). Begins only at the start of a word:
 * otherwise the time for a long word would grow with the square of its length.
 */
const comparison = /(?<![\w:.$-])([A-Za-z][\w:.$-]*)\s+[a-z]{2}\s*("(?:[^"\\]|\\.)*")/gi;
/** Between the words of a filter that cannot be read: a value may contain spaces, or equals signs. */
const separators = [/["'`\u2018-\u201f]/u, /[\s"'`\u2018-\u201f()[\]]/u, /[\s"'`\u2018-\u201f()[\]=,;&]/u];

/**
 * Marks of the users that the kept texts may name: ids, addresses and numbers in path and bodies, operands of a filter (all
 * its words, if the request was refused), and the few users that a filter found.
 */
export function concerned({ path, requestBody, responseBody, found, isRefused }: Kept): string[] {
  const marks = new Set<string>();
  const [resource = '', ...queries] = path.split('?');
  for (const segment of resource.split('/').slice(2)) marks.add(markOf(segment));
  const filters = [queries.join('?'), isObject(requestBody) ? field(requestBody, 'filter') : undefined];
  const namedBy = isRefused ? wordsOf : comparedWith;
  const compared = filters.flatMap((filter) => (typeof filter === 'string' ? namedBy(filter) : []));
  for (const mark of compared) marks.add(mark);
  if (compared.length > 0) for (const id of idsOf(found)) marks.add(id);
  for (const body of [requestBody, responseBody]) for (const mark of namedIn(body)) marks.add(mark);
  return [...marks].filter(isStorableText).slice(0, mostMarks);
}

function comparedWith(filter: string): string[] {
  return [...filter.matchAll(comparison)].slice(0, mostMarks).map(([, attribute = '', literal = '""']) => {
    const value = unquoted(literal);
    return /(^|:)externalId$/i.test(attribute) ? externalIdMark(value) : markOf(value);
  });
}

function wordsOf(filter: string): string[] {
  const words = separators
    .flatMap((separator) => filter.split(separator, mostMarks))
    .filter((word) => word.trim() !== '');
  return words.flatMap((word) => [markOf(word), externalIdMark(word)]);
}

function unquoted(literal: string): string {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return literal.slice(1, -1);
  }
}

function idsOf(found: unknown): string[] {
  const resources = isObject(found) ? found['Resources'] : undefined;
  if (!Array.isArray(resources) || resources.length > mostFound) return [];
  return resources.flatMap((each: unknown) => (isObject(each) && typeof each['id'] === 'string' ? [each['id']] : []));
}

/** The parts of a value that can identify a user, at any depth. */
function namedIn(value: unknown, name = ''): string[] {
  if (typeof value === 'string') return named(name, value);
  if (Array.isArray(value)) return value.flatMap((each) => namedIn(each, name));
  return isObject(value) ? Object.entries(value).flatMap(([key, each]) => namedIn(each, key)) : [];
}

function named(name: string, text: string): string[] {
  if (/^externalId$/i.test(name)) return [externalIdMark(text)];
  const isWhole = /^userName$/i.test(name) || text.includes('@') || isE164(text);
  return [...(isWhole ? [markOf(text)] : []), ...(text.match(uuid) ?? []).map(markOf)];
}
