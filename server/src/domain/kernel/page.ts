import type { EntityClass, FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';

/** One page of a list, newest first: ids are ordered by time (UUIDv7). */
export interface PageRequest {
  /** Maximum number of rows. */
  first: number;
  /** Id of the last row of the previous page. */
  after: string | null;
}

export interface Page<T> {
  items: T[];
  hasNextPage: boolean;
}

/** A keyset page: same cost at any depth, unaffected by rows inserted or deleted meanwhile. */
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

/** A `like` pattern that matches `text` literally, anywhere. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}
