import { type Fragment, sql } from '../../domain/kernel/sql.ts';
import {
  type CostlyPart,
  type Criteria,
  deepOffset,
  type Listed,
  type Order,
  type Selection,
} from '../../domain/users/listing.ts';
import { directoryId } from '../answer.ts';
import type { ResourceFilter } from '../filter/ast.ts';
import { compileFilter } from '../filter/compile.ts';
import { elementOperandOf, elementsOf, type Operand, operandOf, type QueryContext } from '../filter/operand.ts';
import { parseFilter } from '../filter/parser.ts';
import { defaultSubAttribute, isHidden } from '../schema/attribute.ts';
import { type AttributeTarget, type ResourceType, resolve } from '../schema/resource-type.ts';
import { badRequest } from '../scim-error.ts';
import type { Cursors, Position } from './cursor.ts';
import type { SearchRequest } from './search-request.ts';

/** The resources that a search runs on. */
export interface Source<Row> {
  type: ResourceType;
  list(selection: Selection): Promise<Listed<Row>[]>;
  count(where: Fragment | undefined): Promise<number>;
  /** The leading rows whose nested elements fit into one response, at least the first one; absent where none are nested. */
  fitting?(rows: Listed<Row>[]): Promise<Listed<Row>[]>;
  /** The part of a search that takes too long because the directory is large; absent where resources are few. */
  costlyPart?(criteria: Criteria): Promise<CostlyPart | undefined>;
}

/** A page of results. */
export interface Found<Row> {
  rows: Row[];
  total: number;
  /** Whether the page ended before the requested number of rows, because of their nested elements. */
  isCut: boolean;
  nextCursor?: string;
}

/** Searches one resource type, by index, or by cursor if the request has one. */
export async function search<Row extends { id: string }>(
  source: Source<Row>,
  request: SearchRequest,
  context: QueryContext,
  cursors: Cursors,
): Promise<Found<Row>> {
  const asked = queryOf(source.type, request, context);
  const { where } = asked;
  // The first page was not costly.
  if (!request.cursor) await refuseCostly(source, asked);
  if (request.cursor === undefined) return byIndex(source, request, asked);

  const { name } = source.type;
  const { cursor, count } = request;
  const position = cursor === '' ? undefined : cursors.open(directoryId(context), request, name, cursor);
  const from = position ? { afterId: position.id, afterKey: position.key } : { offset: 0 };
  const rows = count === 0 ? [] : await source.list({ ...asked, from, limit: count + 1 });
  const { page, isCut, isLast } = await fitted(source, rows, count);
  const more = !isLast && count > 0;
  const total = position?.total ?? (more || count === 0 ? await source.count(where) : page.length);
  const last = page.at(-1);
  if (!more || !last) return { rows: page, total, isCut };
  const end: Position = { id: last.id, key: last.order_key, total };
  return { rows: page, total, isCut, nextCursor: cursors.seal(directoryId(context), request, name, end) };
}

/** The rows that fit into one response (RFC 7644 §3.4.2.4 allows fewer than requested). */
export async function fitted<Row>(source: Source<Row>, rows: Listed<Row>[], count: number) {
  const read = rows.slice(0, count);
  const page = read.length > 0 && source.fitting ? await source.fitting(read) : read;
  const found = rows[0]?.page_rows ?? 0;
  const isCut = page.length < Math.min(found, count);
  return { page, isCut, isLast: !isCut && found <= count };
}

/** Refuses `tooMany` (RFC 7644 §3.12) before anything runs. Lists by id and filters by a key are never costly. */
export async function refuseCostly(
  source: Pick<Source<unknown>, 'costlyPart'>,
  { where, order, common }: Criteria & Pick<Selection, 'common'>,
): Promise<void> {
  const part = common === undefined && (await source.costlyPart?.({ where, order }));
  if (part) throw badRequest('tooMany', tooCostly[part]);
}

const tooCostly: Record<CostlyPart, string> = {
  filter:
    'The filter would read too much of this large directory. Add a condition by userName, externalId, emails.value or id.',
  sortBy:
    'sortBy would read too much of this large directory. Sort by userName or id, or read it by cursor without sortBy.',
};

/** Filter and order of a search in one resource type. Throws `invalidFilter`, `invalidPath`. */
export function queryOf(type: ResourceType, request: SearchRequest, context: QueryContext) {
  const filter = request.filter === undefined ? undefined : parseFilter(type, request.filter);
  const where = filter && compileFilter(filter, context);
  const order = orderOf(type, request, context);
  return { where, order, common: order === undefined ? nameOfCommon(filter) : undefined };
}

async function byIndex<Row>(
  source: Source<Row>,
  { startIndex, count }: SearchRequest,
  asked: Pick<Selection, 'where' | 'order' | 'common'>,
): Promise<Found<Row>> {
  const { where } = asked;
  if (count === 0) return { rows: [], total: await source.count(where), isCut: false };
  const offset = startIndex - 1;
  const rows = await source.list({ ...asked, from: { offset }, limit: count });
  // A page that is not full is the last one. A deep one may have been found by id: rows before it may have been deleted.
  const known = (rows[0]?.page_rows ?? 0) < count && (rows.length > 0 || offset === 0) && offset < deepOffset;
  const total = known ? offset + (rows[0]?.page_rows ?? 0) : await source.count(where);
  const { page, isCut } = await fitted(source, rows, count);
  return { rows: page, total, isCut };
}

const keys = ['userName', 'externalId', 'displayName'];

/** Directories look a user or group up by a key before each write: one text per key, worth preparing. */
function nameOfCommon(filter: ResourceFilter | undefined): string | undefined {
  if (filter === undefined) return 'all';
  if (filter.kind !== 'compare' || filter.comparison !== 'eq') return undefined;
  return keys.find((key) => key === filter.ref.attribute.name);
}

/** The order of `sortBy` (RFC 7644 §3.4.2.3). Throws `invalidPath` for attributes without an order. */
function orderOf(type: ResourceType, { sortBy, descending }: SearchRequest, context: QueryContext): Order | undefined {
  if (sortBy === undefined) return undefined;
  const target = resolve(type, sortBy);
  if (target?.kind !== 'attribute' || isHidden(target.attribute))
    throw badRequest('invalidPath', `${type.name} has no attribute ${sortBy.slice(0, 80)}.`);
  const { attribute, sub } = target;
  const part = sub ?? (attribute.type === 'complex' ? defaultSubAttribute(attribute) : undefined);
  if (attribute.type === 'complex' && !part) {
    throw badRequest('invalidPath', `${attribute.name} is complex: sort by one of its sub-attributes.`);
  }
  const named: AttributeTarget = part ? { ...target, sub: part } : target;
  if (!attribute.multiValued) return { ...keyOf(operandOf(named, context), attribute.required), descending };
  if (attribute.storage?.kind === 'elements') throw badRequest('invalidPath', `${attribute.name} cannot be sorted by.`);
  const { key, type: sqlType } = keyOf(elementOperandOf(attribute, part, context));
  // Sorts by the primary value, else by the first.
  const preferred = sql.raw(`coalesce(e.el->'primary' = 'true', false) desc, e.n`);
  const first = sql`(select ${key} from ${elementsOf(named)} order by ${preferred} limit 1)`;
  return { key: first, type: sqlType, descending };
}

/** A blank value counts as missing. A required one is compared as it is, so that an index applies. */
function keyOf(operand: Operand, required = false): { key: Fragment; type: Order['type'] } {
  switch (operand.kind) {
    case 'text': {
      const filled = required ? operand.folded : sql`nullif(${operand.folded}, '')`;
      return { key: sql`${filled} collate "C"`, type: 'text' };
    }
    case 'uuid':
      return { key: operand.value, type: 'uuid' };
    case 'boolean':
      return { key: operand.value, type: 'boolean' };
    case 'number':
      return { key: operand.value, type: 'numeric' };
    case 'instant':
      return { key: operand.value, type: 'timestamptz' };
  }
}
