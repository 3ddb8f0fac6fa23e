import { type ClassType, Field, Int, ObjectType } from 'type-graphql';
import type { Place } from '../../domain/kernel/ordered-page.ts';
import type { Page, PageRequest } from '../../domain/kernel/page.ts';
import { refuse } from '../../domain/kernel/problem.ts';
import { isStorableText, isUuid } from '../../domain/kernel/secret.ts';
import { Access } from './access.ts';
import { defaultPageSize } from './limits.ts';

/** As a page is asked for: the Relay cursor connections specification, forwards. */
export interface PageArguments {
  first?: number | null | undefined;
  after?: string | null | undefined;
}

const maxPageSize = 100;

/** Refuses `invalid` for a page of no or more than 100 items, and for a cursor that this list has not given out. */
export function pageRequest(list: string, { first, after }: PageArguments): PageRequest {
  return { first: sizeOf(first), after: after == null ? null : idOf(list, after) };
}

/** As {@link pageRequest}, for a list with an order of its own. @param list its name, with its order */
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

/** A page as a Relay connection; `totalCount` is counted only where it is asked for. */
export function connection<T extends { id: string }>(
  list: string,
  page: Page<T>,
  request: PageRequest,
  totalCount?: () => Promise<number>,
) {
  const edges = page.items.map((node) => ({ node, cursor: cursorOf(list, node.id) }));
  return connected(edges, page.hasNextPage, request.after !== null, totalCount);
}

/** As {@link connection}, for a list with an order of its own. */
export function placedConnection<T>(
  list: string,
  page: { items: readonly T[]; places: readonly Place[]; hasNextPage: boolean },
  request: PlacedRequest,
  totalCount: () => Promise<number>,
) {
  const edges = page.items.map((node, index) => ({ node, cursor: placeCursor(list, page.places[index] as Place) }));
  return connected(edges, page.hasNextPage, request.after !== null, totalCount);
}

function connected<T>(
  edges: { node: T; cursor: string }[],
  hasNextPage: boolean,
  hasPreviousPage: boolean,
  totalCount: (() => Promise<number>) | undefined,
) {
  return {
    edges,
    /** Read only where the answer holds it. */
    get totalCount() {
      return totalCount?.();
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

/** What comes back is a place in the caller's own list and opens no other: the worst that an altered one does is to begin elsewhere. */
function placeOf(list: string, cursor: string): Place {
  const [name, id, key] = parsedArray(Buffer.from(cursor, 'base64url').toString());
  const isKey = key === null || (typeof key === 'string' && isStorableText(key) && fits(list, key));
  if (name !== list || !isUuid(id) || !isKey || placeCursor(list, { id, key }) !== cursor) {
    refuse({ code: 'invalid', field: 'after', reason: 'must be a cursor of this list, in this order' });
  }
  return { id, key };
}

/** PostgreSQL refuses what is no moment. */
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
  // Only what this list itself writes is read back; what follows is looked up within the caller's own scope anyhow.
  if (!isUuid(id) || cursorOf(list, id) !== cursor) {
    refuse({ code: 'invalid', field: 'after', reason: 'must be a cursor of this list' });
  }
  return id;
}

@Access('inherited')
@ObjectType('PageInfo', { description: 'Where a page stands in its list.' })
class PageInfoView {
  @Field(() => Boolean)
  hasNextPage!: boolean;

  @Field(() => Boolean)
  hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true })
  startCursor!: string | null;

  @Field(() => String, { nullable: true })
  endCursor!: string | null;
}

/** Makes the `<Name>Connection` of a node type. @param counted whether it has `totalCount`, which reads all rows */
export function connectionType<T extends object>(node: ClassType<T>, name: string, counted = true): ClassType<object> {
  @Access('inherited')
  @ObjectType(`${name}Edge`)
  class Edge {
    @Field(() => String)
    cursor!: string;

    @Field(() => node)
    node!: T;
  }

  @Access('inherited')
  @ObjectType(`${name}Connection`)
  class Connection {
    @Field(() => [Edge])
    edges!: Edge[];

    @Field(() => PageInfoView)
    pageInfo!: PageInfoView;
  }

  if (counted) {
    const description = 'How many there are on all pages together.';
    Field(() => Int, { description })(Connection.prototype, 'totalCount');
  }
  return Connection;
}
