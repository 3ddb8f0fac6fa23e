import type { EntityManager } from '@mikro-orm/postgresql';
import { type Fragment, query, sql } from './sql.ts';

/** Position of a row in an ordered list: its key as text, null if it has none, and its id. */
export interface Place {
  id: string;
  key: string | null;
}

interface SortKey {
  column: Fragment;
  type: 'text' | 'timestamptz';
  /** The hour of the column, if the index has that in its place. */
  hour?: Fragment;
}

/** A list with a sort key: rows without a key come last, ties are ordered by id. */
export interface OrderedList {
  table: 'users' | 'groups';
  /** Condition on the row `r`. */
  where: Fragment;
  /** Sort key over the row `r`; absent: by age. */
  key?: SortKey | undefined;
  descending: boolean;
  first: number;
  /** Position of the last row of the previous page. */
  after: Place | null;
}

/** A keyset page of an ordered list, as positions. Each part is an index scan, at any depth. */
export async function orderedPage(
  em: EntityManager,
  list: OrderedList,
): Promise<{ places: Place[]; hasNextPage: boolean }> {
  const wanted = list.first + 1;
  const { after } = list;
  const isPastKeys = list.key === undefined || (after !== null && after.key === null);
  const places = isPastKeys ? [] : await withKey(em, list, wanted);
  if (places.length < wanted) {
    const begin = isPastKeys ? after : null;
    places.push(...(await withoutKey(em, list, begin, wanted - places.length)));
  }
  return { places: places.slice(0, list.first), hasNextPage: places.length > list.first };
}

function withKey(em: EntityManager, { table, where, key, descending, after }: OrderedList, limit: number) {
  const { column, type, hour } = key as SortKey;
  const text = type === 'timestamptz' ? sql`(${column} at time zone 'UTC')::text` : sql`${column}::text`;
  const afterKey =
    type === 'timestamptz' ? sql`(${after?.key}::timestamp at time zone 'UTC')` : sql`${after?.key}::text`;
  const [behind, direction] = descending ? [sql.raw('<'), sql.raw('desc')] : [sql.raw('>'), sql.raw('asc')];
  const beyond = after === null ? [] : [sql`(${column}, r.id) ${behind} (${afterKey}, ${after.id}::uuid)`];
  if (hour && after !== null) beyond.push(sql`${hour} ${behind}= ${hourOf(afterKey)}`);
  const conditions = [where, sql`${hour ?? column} is not null`, ...beyond];
  const order = [...(hour ? [hour] : []), column, sql`r.id`].map((part) => sql`${part} ${direction}`);
  return query(
    em,
    sql<Place>`select r.id, ${text} as key from ${sql.raw(table)} r where ${sql.join(conditions, sql` and `)}
      order by ${sql.join(order)} limit ${limit}`,
  );
}

/** SQL: the hour that an instant is in. */
export function hourOf(instant: Fragment): Fragment {
  return sql`date_trunc('hour', ${instant}::timestamptz, 'UTC')`;
}

function withoutKey(
  em: EntityManager,
  { table, where, key, descending }: OrderedList,
  after: Place | null,
  limit: number,
) {
  const [behind, direction] = descending ? [sql.raw('<'), sql.raw('desc')] : [sql.raw('>'), sql.raw('asc')];
  const keyless = key ? sql` and ${key.hour ?? key.column} is null` : sql``;
  const beyond = after === null ? sql`` : sql` and r.id ${behind} ${after.id}::uuid`;
  return query(
    em,
    sql<Place>`select r.id, null as key from ${sql.raw(table)} r where ${where}${keyless}${beyond}
      order by r.id ${direction} limit ${limit}`,
  );
}
