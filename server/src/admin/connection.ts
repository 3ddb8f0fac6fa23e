import 'reflect-metadata';
import { type ClassType, Field, Int, ObjectType } from 'type-graphql';
import type { Page, PageRequest } from '../domain/kernel/page.ts';
import { refuse } from '../domain/kernel/problem.ts';
import { isUuid } from '../domain/kernel/secret.ts';
import { defaultPageSize } from './limits.ts';

/** As a page is asked for: the Relay cursor connections specification, forwards. */
export interface PageArguments {
  first?: number | null | undefined;
  after?: string | null | undefined;
}

const maxPageSize = 100;

/** Refuses `invalid` for a page of no or more than 100 items, and for a cursor that this list has not given out. */
export function pageRequest(list: string, { first, after }: PageArguments): PageRequest {
  const size = first ?? defaultPageSize;
  if (size < 1 || size > maxPageSize) {
    refuse({ code: 'invalid', field: 'first', reason: `must be from 1 to ${maxPageSize}` });
  }
  return { first: size, after: after == null ? null : idOf(list, after) };
}

/** A page as a Relay connection; `totalCount` is counted only where it is asked for. */
export function connection<T extends { id: string }>(
  list: string,
  page: Page<T>,
  request: PageRequest,
  totalCount?: () => Promise<number>,
) {
  const edges = page.items.map((node) => ({ node, cursor: cursorOf(list, node.id) }));
  return {
    edges,
    /** Read only where the answer holds it. */
    get totalCount() {
      return totalCount?.();
    },
    pageInfo: {
      hasNextPage: page.hasNextPage,
      hasPreviousPage: request.after !== null,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

function cursorOf(list: string, id: string): string {
  return Buffer.from(`${list}:${id}`).toString('base64url');
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

@ObjectType('PageInfo', { description: 'Where a page stands in its list.' })
export class PageInfoView {
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
  @ObjectType(`${name}Edge`)
  class Edge {
    @Field(() => String)
    cursor!: string;

    @Field(() => node)
    node!: T;
  }

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
