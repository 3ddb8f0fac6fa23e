import type { EntityClass, FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';

/** One page of a list whose newest rows come first: ids are ordered by time (UUIDv7). */
export interface PageRequest {
  /** How many at most. */
  first: number;
  /** The id of the last row of the page before. */
  after: string | null;
}

export interface Page<T> {
  items: T[];
  hasNextPage: boolean;
}

/** A keyset page: it costs the same at any depth, and rows that come or go meanwhile shift nothing. */
export async function pageOf<T extends { id: string }>(
  em: EntityManager,
  entity: EntityClass<T>,
  where: FilterQuery<T>,
  { first, after }: PageRequest,
): Promise<Page<T>> {
  const beyond = after === null ? [] : [{ id: { $lt: after } } as unknown as FilterQuery<T>];
  const found = await em.find(entity, { $and: [where, ...beyond] } as FilterQuery<T>, {
    orderBy: { id: 'desc' } as never,
    limit: first + 1,
  });
  return { items: found.slice(0, first) as T[], hasNextPage: found.length > first };
}

/** A pattern for `like` that finds `text` itself anywhere in a column. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}
