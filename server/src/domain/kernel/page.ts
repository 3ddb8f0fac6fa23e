import { searchFold } from '@latchkey/contracts/search-fold';
import { type EntityClass, type FilterQuery, raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type Executing, type Fragment, query, sql } from './sql.ts';

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

/** A keyset page: same cost at any depth, unaffected by rows inserted or deleted in the meantime. */
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

/** Filter by a part of the name, ignoring case and accents. All rows for an empty text. */
export function named(part = ''): object {
  return part === '' ? {} : { [raw((table) => `search_fold(${table}.name)`)]: { $like: containing(searchFold(part)) } };
}

/** The number of rows of a list, for display: exact up to {@link maxTotal} (decisions/0233). */
export interface Total {
  count: number;
  /** Whether there are more than `count`. */
  isLimited: boolean;
}

/** Counting more rows takes longer than reading a page of them. */
export const maxTotal = 10_000;

export const exactTotal = (count: number): Total => ({ count, isLimited: false });

/** Counts the rows of `rows`, a statement from its `from` on. Reads at most one more than {@link maxTotal}. */
export async function totalOf(on: Executing, rows: Fragment): Promise<Total> {
  const [row] = await query(
    on,
    sql<{ count: number }>`select count(*)::int as count from (select ${rows} limit ${maxTotal + 1}) counted`,
  );
  return limitedTotal(row?.count ?? 0);
}

/** @param counted at most one more than {@link maxTotal} */
export function limitedTotal(counted: number): Total {
  return { count: Math.min(counted, maxTotal), isLimited: counted > maxTotal };
}
