import { comparableInstant } from '../../domain/kernel/instant.ts';
import { isUuid } from '../../domain/kernel/secret.ts';
import { type Fragment, sql } from '../../domain/kernel/sql.ts';
import { foldCase, foldName } from '../../domain/users/login.ts';
import type { Attribute } from '../schema/attribute.ts';
import type { AttributeTarget } from '../schema/resource-type.ts';
import type { Comparison, ElementFilter, Filter, Literal, ResourceFilter } from './ast.ts';
import { elementOperandOf, elementsOf, type Operand, operandOf, type QueryContext, type TextFold } from './operand.ts';

/**
 * Compiles a filter to a condition on the row `r`. Conditions are never null, so that `not` is exact. Values from the
 * filter are always parameters.
 */
export function compileFilter(filter: ResourceFilter, context: QueryContext): Fragment {
  return connectives(filter, (leaf, mustHold) => {
    const { ref: target } = leaf;
    const among = mustHold ? amongThese : amongAny;
    if (leaf.kind === 'element') return element(target, leaf.filter, { context, among });
    if (!target.attribute.multiValued) {
      if (leaf.kind === 'present') return presentSingle(target, context);
      const { comparison, value } = leaf;
      return (
        byIndex(target, comparison, value, { context, among }) ?? compare(operandOf(target, context), comparison, value)
      );
    }
    if (leaf.kind === 'present') return presentMultiple(target, context);
    const indexed = byIndex(target, leaf.comparison, leaf.value, { context, among });
    if (indexed) return indexed;
    const condition = compare(elementOperandOf(target.attribute, target.sub, context), leaf.comparison, leaf.value);
    const some = exists(target, condition);
    // An absent attribute is not equal.
    return leaf.comparison === 'ne' ? sql`(${some} or not ${exists(target, sql.raw('true'))})` : some;
  });
}

/** Compiles a filter in brackets to a condition on the element `e` of the attribute. */
export function compileElementFilter(attribute: Attribute, filter: ElementFilter, context: QueryContext): Fragment {
  return connectives<Attribute>(filter, (leaf) => {
    const operand = elementOperandOf(attribute, leaf.ref, context);
    if (leaf.kind === 'present') return present(operand);
    if (leaf.kind === 'compare') return compare(operand, leaf.comparison, leaf.value);
    throw new Error('an element has no elements');
  });
}

type Leaf<Ref> = Exclude<Filter<Ref>, { kind: 'and' | 'or' | 'not' }>;

/** @param mustHold whether the filter matches only resources for which this part of it holds */
function connectives<Ref>(
  filter: Filter<Ref>,
  leaf: (leaf: Leaf<Ref>, mustHold: boolean) => Fragment,
  mustHold = true,
): Fragment {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const terms = filter.terms.map((term) => connectives(term, leaf, mustHold && filter.kind === 'and'));
      return sql`(${sql.join(terms, sql.raw(` ${filter.kind} `))})`;
    }
    case 'not':
      return sql`(not ${connectives(filter.term, leaf, false)})`;
    default:
      return leaf(filter, mustHold);
  }
}

/** SQL over the row `r`: its id is one of those that a statement selects. */
type Among = (ids: Fragment) => Fragment;

/**
 * For a condition that must hold: `id` is looked up by its index. PostgreSQL joins `in (select …)`, and compares each
 * resource with each id if the tables have grown since their last statistics (decisions/0310).
 */
const amongThese: Among = (ids) => sql`r.id = any(array(${ids}))`;

/** Elsewhere: the ids are hashed once. */
const amongAny: Among = (ids) => sql`r.id in (${ids})`;

interface Lookup {
  context: QueryContext;
  among: Among;
}

function element(target: AttributeTarget, filter: ElementFilter, lookup: Lookup): Fragment {
  const condition = exists(target, compileElementFilter(target.attribute, filter, lookup.context));
  const indexed = thatMustHold(filter).map(({ ref, comparison, value }) =>
    byIndex({ ...target, sub: ref }, comparison, value, lookup),
  );
  const known = indexed.filter((each) => each !== undefined);
  return known.length === 0 ? condition : sql`(${sql.join([...known, condition], sql` and `)})`;
}

/** The comparisons that must be true for the filter to match. */
function thatMustHold(filter: ElementFilter): Extract<ElementFilter, { kind: 'compare' }>[] {
  if (filter.kind === 'compare') return [filter];
  return filter.kind === 'and' ? filter.terms.flatMap(thatMustHold) : [];
}

/** The same condition by an index: email addresses, and memberships by user. */
function byIndex(
  target: AttributeTarget,
  comparison: Comparison,
  value: Literal,
  lookup: Lookup,
): Fragment | undefined {
  const { among, context } = lookup;
  const { attribute, sub } = target;
  if (attribute.index && comparison === 'eq') return byValue(attribute.index, value, lookup);
  if (sub?.name !== 'value' || typeof value !== 'string') return undefined;
  if (attribute.name === 'emails' && (comparison === 'eq' || comparison === 'sw')) {
    const key = sql.raw('i.value_key');
    const condition = textCondition(key, comparison, foldCase(value));
    return among(sql`select i.user_id from user_emails i
      where i.project_id = ${context.projectId} and ${condition}`);
  }
  if (comparison !== 'eq') return undefined;
  if (attribute.name === 'members' && isUuid(value)) {
    return among(sql`select m.group_id from group_members m
      where m.project_id = ${context.projectId} and m.user_id = ${value}::uuid
      union all select n.group_id from group_nestings n
      where n.project_id = ${context.projectId} and n.member_id = ${value}::uuid`);
  }
  if (attribute.name === 'groups' && isUuid(value)) {
    return among(sql`select m.user_id from group_members m
      where m.project_id = ${context.projectId} and m.group_id = ${value}::uuid`);
  }
  return undefined;
}

function byValue(
  { attribute, keyOf }: NonNullable<Attribute['index']>,
  value: Literal,
  { among, context }: Lookup,
): Fragment {
  return among(sql`select v.user_id from custom_values v
    where v.project_id = ${context.projectId} and v.attribute = ${attribute} and v.key collate "C" = ${keyOf(value)}`);
}

function exists(target: AttributeTarget, condition: Fragment): Fragment {
  const filled = target.attribute.name === 'schemas' ? sql`e.value is not null and ${condition}` : condition;
  return sql`exists (select 1 from ${elementsOf(target)} where ${filled})`;
}

function presentSingle(target: AttributeTarget, context: QueryContext): Fragment {
  if (target.sub || target.attribute.type !== 'complex') return present(operandOf(target, context));
  const parts = (target.attribute.subAttributes ?? []).map((sub) => present(operandOf({ ...target, sub }, context)));
  return sql`(${sql.join(parts, sql` or `)})`;
}

function presentMultiple(target: AttributeTarget, context: QueryContext): Fragment {
  const { attribute, sub } = target;
  if (sub || !attribute.subAttributes) return exists(target, present(elementOperandOf(attribute, sub, context)));
  const parts = attribute.subAttributes.map((each) => present(elementOperandOf(attribute, each, context)));
  return exists(target, sql`(${sql.join(parts, sql` or `)})`);
}

function present(operand: Operand): Fragment {
  const { value } = operand;
  return operand.kind === 'text' ? sql`(${value} is not null and ${value} <> '')` : sql`${value} is not null`;
}

const signs = { eq: '=', gt: '>', ge: '>=', lt: '<', le: '<=' } as const;

function compare(operand: Operand, comparison: Comparison, value: Literal): Fragment {
  if (comparison === 'ne') return sql`(not ${compare(operand, 'eq', value)})`;
  switch (operand.kind) {
    case 'boolean': {
      const given = operand.absentMeans === undefined ? operand.value : sql`coalesce(${operand.value}, false)`;
      return sql`(${given} is not null and ${given} = ${value}::boolean)`;
    }
    case 'number': {
      if (comparison === 'co' || comparison === 'sw' || comparison === 'ew') throw new Error('a number is not text');
      const { value: given } = operand;
      return sql`(${given} is not null and ${given} ${sql.raw(signs[comparison])} ${String(value)}::numeric)`;
    }
    case 'uuid':
      if (comparison === 'eq') {
        return isUuid(value) ? sql`(${operand.value} = ${value}::uuid)` : sql.raw('false');
      }
      return textCondition(sql`${operand.value}::text`, comparison, String(value));
    case 'instant':
      if (comparison === 'co' || comparison === 'sw' || comparison === 'ew') {
        return textCondition(asText(operand.value), comparison, String(value).toUpperCase());
      }
      return sql`(${operand.value} ${sql.raw(signs[comparison])} ${storableInstant(String(value))}::timestamptz)`;
    case 'text': {
      const literal = literalFor(operand.fold, comparison, String(value));
      const condition = textCondition(operand.folded, comparison, literal, operand.fold === 'sql');
      return sql`(${operand.folded} is not null and ${condition})`;
    }
  }
}

function literalFor(fold: TextFold, comparison: Comparison, text: string): string {
  if (fold === 'foldCase') return foldCase(text);
  if (fold === 'name') return nameFor(comparison, text);
  if (fold === 'version') return text.replace(/-[\w-]*("?)$/, '$1');
  if (fold !== 'instant') return text;
  return comparison === 'co' || comparison === 'sw' || comparison === 'ew'
    ? text.toUpperCase()
    : comparableInstant(text);
}

/** A part of a user name keeps the space at an end that may be inside the name. */
function nameFor(comparison: Comparison, text: string): string {
  const folded = foldName(text);
  if (comparison === 'co') return folded;
  if (comparison === 'sw') return folded.trimStart();
  return comparison === 'ew' ? folded.trimEnd() : folded.trim();
}

/** Compares in byte order, as the indexes do. */
function textCondition(
  value: Fragment,
  comparison: Exclude<Comparison, 'ne'>,
  literal: string,
  inLowerCase = false,
): Fragment {
  const bytewise = sql`${value} collate "C"`;
  const bound = (text: string) => (inLowerCase ? sql`lower(${text}::text)` : sql`${text}::text`);
  if (comparison === 'co') return sql`strpos(${value}, ${bound(literal)}) > 0`;
  if (comparison === 'sw') return sql`${bytewise} like ${bound(`${escapeLike(literal)}%`)}`;
  if (comparison === 'ew') return sql`${bytewise} like ${bound(`%${escapeLike(literal)}`)}`;
  return sql`${bytewise} ${sql.raw(signs[comparison])} ${bound(literal)}`;
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, (character) => `\\${character}`);
}

/** The text form of instants in responses. */
function asText(instant: Fragment): Fragment {
  return sql`to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** PostgreSQL has no year 0. */
function storableInstant(text: string): string {
  const instant = comparableInstant(text);
  return instant < '0001' ? '-infinity' : instant;
}
