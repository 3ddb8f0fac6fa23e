import { LRUCache } from 'lru-cache';
import type { Clock } from '../kernel/clock.ts';
import { type Executing, type Fragment, query, type Statement, sql } from '../kernel/sql.ts';
import { isIn, type Place, projectOf } from './identity/home.ts';

type ListedTable = 'users' | 'groups' | 'client_roles';

/** Sort key: an expression over the row `r`, null if the value is missing. */
export interface Order {
  key: Fragment;
  /** The SQL type of the key. */
  type: 'text' | 'uuid' | 'boolean' | 'numeric' | 'timestamptz';
  descending: boolean;
}

/** Start of a page: after `offset` rows, or after the row with this id and order key. */
type From = { offset: number } | { afterId: string; afterKey: string | null };

/** Filter and order of rows. Conditions are over the row `r`; ties are ordered by id. */
export interface Criteria {
  where: Fragment | undefined;
  order: Order | undefined;
}

/** A page of rows. */
export interface Selection extends Criteria {
  from: From;
  limit: number;
  /** Name of a common `where`, whose statement is prepared; undefined: the text varies. */
  common: string | undefined;
}

/** One row of a page, as from JSON, its order key as text, and the number of rows of the page before a {@link Weight} ended it. */
export type Listed<Row> = Row & { order_key: string | null; page_rows: number };

/** Limit on a page by the size of its rows: it ends before the row that exceeds it, but not before the first. */
export interface Weight {
  /** Of the row `r`. */
  of: Fragment;
  most: number;
}

/** The number of rows of a place in `table` that meet `where`. */
export async function countRows(em: Executing, table: ListedTable, place: Place, where?: Fragment): Promise<number> {
  const count =
    table === 'users' && !where && !isOrganization(place)
      ? countAll(place)
      : sql<{ count: string | null }>`select count(*) from ${sql.table(table)} r where ${meeting(place, where)}`;
  const [row] = await query(em, count, { prepare: where ? undefined : `listing.${table}.count` });
  return Number(row?.count ?? 0);
}

const isOrganization = (place: Place) => typeof place !== 'string' && place.organizationId !== null;

/** SQL: the users of a project, or those at home in it, by its counters. */
function countAll(place: Place): Statement<{ count: string | null }> {
  const projectId = projectOf(place);
  const counted = typeof place === 'string' ? sql`users` : sql`users - in_organizations`;
  return sql<{
    count: string | null;
  }>`select sum(${counted}) as count from user_counts where project_id = ${projectId}`;
}

const largeProject = 100_000;
/** In PostgreSQL's units. */
const mostCost = 20_000;

/** Whether searches of a project can be costly at all, by its number of users (decisions/0155). */
async function isLarge(em: Executing, projectId: string): Promise<boolean> {
  return (await countRows(em, 'users', projectId)) >= largeProject;
}

/** As RFC 7644 §3.4.2.2 and §3.4.2.3 name them. */
export type CostlyPart = 'filter' | 'sortBy';

/**
 * The part of a search that takes long in a large project, as PostgreSQL expects from its statistics: it is planned, not run.
 * For a filter, counting takes longest; an order without an index sorts all rows for each page.
 */
export async function costlyPart(
  em: Executing,
  table: ListedTable,
  place: Place,
  { where, order }: Criteria,
): Promise<CostlyPart | undefined> {
  if (!(await isLarge(em, projectOf(place)))) return undefined;
  const count = sql`select count(*) from ${sql.table(table)} r where ${meeting(place, where)}`;
  if (where && (await costOf(em, count)) > mostCost) return 'filter';
  const page = order && idsOfPage(table, place, { where, order, from: { offset: 0 }, limit: 100 });
  return page && (await costOf(em, page)) > mostCost ? 'sortBy' : undefined;
}

async function costOf(em: Executing, statement: Fragment): Promise<number> {
  const [row] = await query(
    em,
    sql<{ 'QUERY PLAN': { Plan: { 'Total Cost': number } }[] }>`explain (format json) ${statement}`,
  );
  return row?.['QUERY PLAN'][0]?.Plan['Total Cost'] ?? 0;
}

/**
 * A page of rows. Missing values come last in ascending order and first in descending (RFC 7644 §3.4.2.3); without an
 * order, by id. Selects the ids first, by indexes where possible, and reads whole rows only for the page.
 *
 * @param weight ends the page early
 */
export async function listRows<Row extends object>(
  em: Executing,
  table: ListedTable,
  columns: string,
  place: Place,
  selection: Selection,
  weight?: Weight,
): Promise<Listed<Row>[]> {
  const { order, from, common } = selection;
  const shown =
    order?.type === 'timestamptz'
      ? sql.raw("(page.order_key at time zone 'UTC')::text")
      : sql.raw('page.order_key::text');
  const ordering = order ? sql`page.order_key ${directionOf(order)}, r.id` : sql.raw('r.id');
  const pageWeight = weight
    ? sql`sum(${weight.of}) over (order by ${ordering} rows between unbounded preceding and current row)`
    : sql.raw('0');
  const rows = sql`select ${sql.raw(columns)}, ${shown} as order_key, ${pageWeight} as page_weight,
      row_number() over (order by ${ordering}) as page_row, count(*) over ()::int as page_rows
    from (${idsOfPage(table, place, selection)}) page
    join ${sql.table(table)} r on r.project_id = ${projectOf(place)} and r.id = page.id`;
  const statement = sql<Listed<Row>>`select * from (${rows}) page
    where page_row = 1 or page_weight <= ${sql.lit(weight?.most ?? 0)} order by page_row`;
  const start = 'afterId' in from ? 'after' : 'offset';
  return query(em, statement, { prepare: common && `listing.${table}.${common}.${start}` });
}

/** A page that begins after this many rows is deep: reading the rows before it takes longer than reading the page. */
export const deepOffset = 10_000;

/**
 * End positions of deep pages of whole lists, cached in one process for a few minutes: a client that walks a large
 * directory by `startIndex` gets its next page by id (decisions/0233). Any other page is found by its offset.
 */
export class DeepPages {
  private readonly ends: LRUCache<string, string>;

  constructor(clock: Clock) {
    const perf = { now: () => clock.now().getTime() };
    this.ends = new LRUCache({ max: 1000, ttl: 300_000, ttlResolution: 0, perf });
  }

  /** @param read reads one page */
  async read<Row extends { id: string }>(
    place: Place,
    selection: Selection,
    read: (selection: Selection) => Promise<Row[]>,
  ): Promise<Row[]> {
    const { where, order, from } = selection;
    if (where || order || !('offset' in from)) return read(selection);
    const keyAt = (offset: number) => `${JSON.stringify(place)} ${offset}`;
    const afterId = this.ends.get(keyAt(from.offset));
    const rows = await read(afterId === undefined ? selection : { ...selection, from: { afterId, afterKey: null } });
    const end = from.offset + rows.length;
    const last = rows.at(-1);
    if (last && end >= deepOffset) this.ends.set(keyAt(end), last.id);
    return rows;
  }
}

/**
 * Sizes of pages that clients ask for, and one more row, as a cursor reads. They are part of a prepared text: for a
 * limit that is a parameter, PostgreSQL expects a tenth of all rows, and therefore plans the statement again for each
 * page.
 */
const usualLimits = new Set([1, 2, 50, 51, 100, 101, 200, 201]);

/** SQL: the ids and order keys of a page. */
function idsOfPage(
  table: ListedTable,
  place: Place,
  { where, order, from, limit }: Omit<Selection, 'common'>,
): Fragment {
  const key = order?.key ?? sql.raw('null::text');
  const ordering = order ? sql`order_key ${directionOf(order)}, id` : sql.raw('id');
  const after = 'afterId' in from ? sql` and ${behind(from, order)}` : sql.raw('');
  const offset = 'offset' in from ? from.offset : 0;
  return sql`select r.id, ${key} as order_key from ${sql.table(table)} r
    where ${meeting(place, where)}${after}
    order by ${ordering} offset ${offset} limit ${usualLimits.has(limit) ? sql.lit(limit) : limit}`;
}

function directionOf({ descending }: Order): Fragment {
  return sql.raw(descending ? 'desc nulls first' : 'asc nulls last');
}

function meeting(place: Place, where: Fragment | undefined): Fragment {
  return where ? sql`${isIn(place)} and ${where}` : isIn(place);
}

function behind(
  { afterId, afterKey }: { afterId: string; afterKey: string | null },
  order: Order | undefined,
): Fragment {
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
      : sql`${afterKey}::${sql.raw(order.type)}`;
  const sameKey = sql`(${key} = ${last} and ${behindId})`;
  if (order.descending) return sql`(${key} < ${last} or ${sameKey})`;
  return sql`(${key} > ${last} or ${sameKey} or ${key} is null)`;
}
