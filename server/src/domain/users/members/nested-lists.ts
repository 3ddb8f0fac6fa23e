import { type Executing, type Fragment, query, sql } from '../../kernel/sql.ts';

/**
 * The number of leading rows of a page whose nested elements (members of groups, groups of users) are together at most
 * `budget`. Counts row by row, and no further than the budget: a page costs the same however many elements its rows have.
 *
 * @param ids of the rows of the page
 * @param elementsOf SQL: the elements of the row with this id
 */
export async function leadingWithin(
  em: Executing,
  ids: readonly string[],
  elementsOf: (id: Fragment) => Fragment,
  budget: number,
): Promise<number> {
  const next = sql`(${ids}::uuid[])[w.at + 1]`;
  const [row] = await query(
    em,
    sql<{ leading: number }>`
      with recursive walk(at, total) as (
        select 0, 0::bigint
        union all select w.at + 1, w.total + (
          select count(*) from (${elementsOf(next)} limit ${budget}::int + 1) counted)
        from walk w where w.at < ${ids.length}::int and w.total <= ${budget}::int
      )
      select max(at)::int as leading from walk where total <= ${budget}::int`,
  );
  return row?.leading ?? 0;
}
