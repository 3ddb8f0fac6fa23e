import { constant, type Executing, query, type Sql, sql, verbatim } from '../kernel/statement.ts';

/** By what a list is ordered: an expression over the row `r`, null where the value is missing. */
export interface Order {
  key: Sql;
  /** The SQL type of the key. */
  type: 'text' | 'boolean' | 'timestamptz';
  descending: boolean;
}

/** Where a page begins: behind `offset` rows, or behind the row with this id and order key. */
export type From = { offset: number } | { afterId: string; afterKey: string | null };

/** What is listed of a project. Conditions are over the row `r`; ids decide where the order leaves two rows equal. */
export interface Selection {
  where: Sql | undefined;
  order: Order | undefined;
  from: From;
  limit: number;
  /** Whether its text is one of a handful, which are worth preparing: a look-up by a key, or no condition at all. */
  isCommon: boolean;
}

/** One row of a page: the row itself as JSON would have it, and its order key as text. */
export type Listed<Row> = Row & { order_key: string | null };

/** How many rows of `table` a project has under `where`. */
export async function countRows(
  em: Executing,
  table: 'users' | 'groups',
  projectId: string,
  where?: Sql,
): Promise<number> {
  const count =
    table === 'users' && !where
      ? sql`select sum(users) as count from user_counts where project_id = ${projectId}`
      : sql`select count(*) from ${verbatim(table)} r where ${inProject(projectId, where)}`;
  const [row] = await query<{ count: string | null }>(em, count);
  return Number(row?.count ?? 0);
}

/**
 * A page of rows. Missing values come last in ascending order and first in descending (RFC 7644 §3.4.2.3); without an
 * order, by id. The ids are chosen first, from indexes where they can be, and only the page's rows are read whole.
 */
export async function listRows<Row extends object>(
  em: Executing,
  table: 'users' | 'groups',
  columns: string,
  projectId: string,
  { where, order, from, limit, isCommon }: Selection,
): Promise<Listed<Row>[]> {
  const key = order?.key ?? verbatim('null::text');
  const direction = verbatim(order?.descending ? 'desc nulls first' : 'asc nulls last');
  const ordering = order ? sql`order_key ${direction}, id` : verbatim('id');
  const shown =
    order?.type === 'timestamptz'
      ? verbatim("(page.order_key at time zone 'UTC')::text")
      : verbatim('page.order_key::text');
  const after = 'afterId' in from ? sql` and ${behind(from, order)}` : verbatim('');
  const offset = 'offset' in from ? from.offset : 0;
  const statement = sql`select ${verbatim(columns)}, ${shown} as order_key
        from (select r.id, ${key} as order_key from ${verbatim(table)} r
              where ${inProject(projectId, where)}${after}
              order by ${ordering} offset ${offset} limit ${limit}) page
        join ${verbatim(table)} r on r.id = page.id
        order by ${order ? sql`page.order_key ${direction}, r.id` : verbatim('r.id')}`;
  return query<Listed<Row>>(em, isCommon ? constant(statement) : statement);
}

function inProject(projectId: string, where: Sql | undefined): Sql {
  return where ? sql`r.project_id = ${projectId} and ${where}` : sql`r.project_id = ${projectId}`;
}

function behind({ afterId, afterKey }: { afterId: string; afterKey: string | null }, order: Order | undefined): Sql {
  const behindId = sql`r.id > ${afterId}::uuid`;
  if (!order) return behindId;
  const { key } = order;
  if (afterKey === null) {
    const sameKey = sql`(${key} is null and ${behindId})`;
    return order.descending ? sql`(${sameKey} or ${key} is not null)` : sameKey;
  }
  const last =
    order.type === 'timestamptz'
      ? sql`(${afterKey}::timestamp at time zone 'UTC')`
      : sql`${afterKey}::${verbatim(order.type)}`;
  const sameKey = sql`(${key} = ${last} and ${behindId})`;
  if (order.descending) return sql`(${key} < ${last} or ${sameKey})`;
  return sql`(${key} > ${last} or ${sameKey} or ${key} is null)`;
}
