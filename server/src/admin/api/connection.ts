import { type ClassType, ObjectType } from 'type-graphql';
import type { Place } from '../../domain/kernel/ordered-page.ts';
import type { Page, PageRequest, Total } from '../../domain/kernel/page.ts';
import { refuse } from '../../domain/kernel/problem.ts';
import { isStorableText, isUuid } from '../../domain/kernel/secret.ts';
import { Access } from './access.ts';
import { boolean, fields, int, list, nullable, object, text } from './fields.ts';
import { defaultPageSize } from './limits.ts';

/** Relay cursor connections, forward pagination. */
export interface PageArguments {
  first?: number | null | undefined;
  after?: string | null | undefined;
}

const maxPageSize = 100;

/** Refuses `invalid` for a page size outside 1 to 100, and for a cursor of another list. */
export function pageRequest(list: string, { first, after }: PageArguments): PageRequest {
  return { first: sizeOf(first), after: after == null ? null : idOf(list, after) };
}

/** An id by which a list is limited. Refuses `invalid`, naming the argument. */
export function optionalId(field: string, id: string | null | undefined): string | undefined {
  if (id != null && !isUuid(id)) refuse({ code: 'invalid', field, reason: 'must be an id' });
  return id ?? undefined;
}

/** As {@link pageRequest}, for a list with a custom order. @param list its name, with its order */
export function placedRequest(list: string, { first, after }: PageArguments): PlacedRequest {
  return { first: sizeOf(first), after: after == null ? null : placeOf(list, after) };
}

export interface PlacedRequest {
  first: number;
  after: Place | null;
}

function sizeOf(first: number | null | undefined): number {
  const size = first ?? defaultPageSize;
  if (size < 1 || size > maxPageSize) {
    refuse({ code: 'invalid', field: 'first', reason: `must be from 1 to ${maxPageSize}` });
  }
  return size;
}

/** A page as a Relay connection; counted only if `totalCount` or `isTotalLimited` is selected, and once for both. */
export function connection<T extends { id: string }>(
  list: string,
  page: Page<T>,
  request: PageRequest,
  count?: () => Promise<Total>,
) {
  const edges = page.items.map((node) => ({ node, cursor: cursorOf(list, node.id) }));
  return connected(edges, page.hasNextPage, request.after !== null, count);
}

/** As {@link connection}, for a list with a custom order. */
export function placedConnection<T>(
  list: string,
  page: { items: readonly T[]; places: readonly Place[]; hasNextPage: boolean },
  request: PlacedRequest,
  count: () => Promise<Total>,
) {
  const edges = page.items.map((node, index) => ({ node, cursor: placeCursor(list, page.places[index] as Place) }));
  return connected(edges, page.hasNextPage, request.after !== null, count);
}

function connected<T>(
  edges: { node: T; cursor: string }[],
  hasNextPage: boolean,
  hasPreviousPage: boolean,
  count: (() => Promise<Total>) | undefined,
) {
  let counted: Promise<Total> | undefined;
  const total = () => (counted ??= count?.());
  return {
    edges,
    get totalCount() {
      return total()?.then((one) => one.count);
    },
    get isTotalLimited() {
      return total()?.then((one) => one.isLimited);
    },
    pageInfo: {
      hasNextPage,
      hasPreviousPage,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

function cursorOf(list: string, id: string): string {
  return Buffer.from(`${list}:${id}`).toString('base64url');
}

function placeCursor(list: string, { id, key }: Place): string {
  return Buffer.from(JSON.stringify([list, id, key])).toString('base64url');
}

/** Cursors are not signed: the scope of a list comes from its arguments, so a forged cursor only starts elsewhere. */
function placeOf(list: string, cursor: string): Place {
  const [name, id, key] = parsedArray(Buffer.from(cursor, 'base64url').toString());
  const isKey = key === null || (typeof key === 'string' && isStorableText(key) && fits(list, key));
  if (name !== list || !isUuid(id) || !isKey || placeCursor(list, { id, key }) !== cursor) {
    refuse({ code: 'invalid', field: 'after', reason: 'must be a cursor of this list and order' });
  }
  return { id, key };
}

/** Whether the key is a valid timestamp, if the list is ordered by one: PostgreSQL fails on others. */
function fits(list: string, key: string): boolean {
  if (!list.includes('last-sign-in')) return true;
  if (!/^[1-9]\d{3}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{1,6})?$/.test(key)) return false;
  const moment = new Date(`${key.slice(0, 19).replace(' ', 'T')}Z`);
  return !Number.isNaN(moment.getTime()) && moment.toISOString().slice(0, 19).replace('T', ' ') === key.slice(0, 19);
}

function parsedArray(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function idOf(list: string, cursor: string): string {
  const id = Buffer.from(cursor, 'base64url')
    .toString()
    .slice(list.length + 1);
  // Accepts only cursors that this list writes.
  if (!isUuid(id) || cursorOf(list, id) !== cursor) {
    refuse({ code: 'invalid', field: 'after', reason: 'must be a cursor of this list' });
  }
  return id;
}

@Access('inherited')
@ObjectType('PageInfo', { description: 'Position of a page in its list.' })
class PageInfoView extends fields({
  hasNextPage: boolean(),
  hasPreviousPage: boolean(),
  startCursor: nullable(text()),
  endCursor: nullable(text()),
}) {}

/** The options of the argument `exact` of a field that counts. */
export const exactOption = {
  nullable: true,
  description: 'Counts all without a limit, which can take seconds. Default: false, at most 10,000.',
} as const;

const total = {
  totalCount: int('Number of items on all pages; at most 10,000 if `isTotalLimited`.'),
  isTotalLimited: boolean('Whether there are more than `totalCount`.'),
};

/** Creates the `<Name>Connection` of a node type. @param counted whether it has `totalCount` */
export function connectionType<T extends object>(node: ClassType<T>, name: string, counted = true): ClassType<object> {
  @Access('inherited')
  @ObjectType(`${name}Edge`)
  class Edge extends fields({ cursor: text(), node: object(node) }) {}

  @Access('inherited')
  @ObjectType(`${name}Connection`)
  class Connection extends fields({
    edges: list(object(Edge)),
    pageInfo: object(PageInfoView),
    ...(counted ? total : {}),
  }) {}

  return Connection;
}
