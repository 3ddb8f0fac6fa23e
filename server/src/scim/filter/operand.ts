import { type Fragment, sql } from '../../domain/kernel/sql.ts';
import type { Home } from '../../domain/users/identity/home.ts';
import type { Attribute, Storage } from '../schema/attribute.ts';
import type { AttributeTarget } from '../schema/resource-type.ts';

/** Request context of a compiled filter: the directory. */
export interface QueryContext extends Home {
  /** Its SCIM base URL, e.g. `https://id.example.com/v1/scim/<project or organization>`. */
  baseUrl: string;
}

/** Conversion of the literal of a comparison. `version`: compared without the digest, as in `If-Match`. */
export type TextFold = 'none' | 'sql' | 'foldCase' | 'name' | 'instant' | 'version';

/** A value in SQL with its type for comparisons. */
export type Operand =
  | { kind: 'text'; value: Fragment; folded: Fragment; fold: TextFold }
  | { kind: 'uuid'; value: Fragment }
  | { kind: 'boolean'; value: Fragment; absentMeans: false | undefined }
  | { kind: 'number'; value: Fragment }
  | { kind: 'instant'; value: Fragment };

/** The value of a single-valued attribute, or of a part of it, in the row `r`. */
export function operandOf(target: AttributeTarget, context: QueryContext): Operand {
  const { attribute, sub } = target;
  const stored = sub ?? attribute;
  if (stored.storage) return operand(stored, stored.storage, context);
  const whole = jsonOf(target);
  return jsonOperand(stored, sub ? sql`${whole}->${sub.name}::text` : whole);
}

/** The value of a part of an element `e` of the attribute, or of the element itself if it has no parts. */
export function elementOperandOf(attribute: Attribute, sub: Attribute | undefined, context: QueryContext): Operand {
  if (sub?.storage) return operand(sub, sub.storage, context);
  if (attribute.storage) return text(sql.raw('e.value'), undefined, false);
  const element = sql.raw('e.el');
  return jsonOperand(sub ?? attribute, hasParts(attribute) && sub ? sql`${element}->${sub.name}::text` : element);
}

/** The elements of a multi-valued attribute of the row `r`, as a FROM item named `e`. */
export function elementsOf(target: AttributeTarget): Fragment {
  const { attribute } = target;
  if (attribute.storage?.kind === 'elements') return attribute.storage.from;
  const list = jsonOf(target);
  // PostgreSQL may evaluate it for rows of other projects, in which the name has another type.
  return sql`jsonb_array_elements(case when jsonb_typeof(${list}) = 'array' then ${list} end) with ordinality as e(el, n)`;
}

const hasParts = ({ subAttributes }: Attribute): boolean => subAttributes !== undefined;

/** Names of attributes are parameters, since projects choose them. */
function jsonOf({ attribute, extension }: AttributeTarget): Fragment {
  const container = extension ? sql`r.attributes->${extension.id}::text` : sql`r.attributes`;
  return sql`(${container}->${attribute.name}::text)`;
}

/** Never fails for any stored value: another project may give the name another type. */
function jsonOperand(attribute: Attribute, json: Fragment): Operand {
  const typed = (type: 'boolean' | 'number', to: 'boolean' | 'numeric') =>
    sql`(case when jsonb_typeof(${json}) = ${sql.lit(type)} then (${json})::${sql.raw(to)} end)`;
  switch (attribute.type) {
    case 'boolean':
      return { kind: 'boolean', value: typed('boolean', 'boolean'), absentMeans: attribute.absentMeans };
    case 'integer':
    case 'decimal':
      return { kind: 'number', value: typed('number', 'numeric') };
    default: {
      const value = sql`((${json})#>>'{}')`;
      if (attribute.type === 'dateTime') return { kind: 'text', value, folded: value, fold: 'instant' };
      return text(value, undefined, attribute.caseExact ?? false);
    }
  }
}

function operand(attribute: Attribute, storage: Storage, context: QueryContext): Operand {
  switch (storage.kind) {
    case 'text':
      return text(sql.raw(storage.value), storage.folded, attribute.caseExact ?? false);
    case 'uuid':
      return { kind: 'uuid', value: sql.raw(storage.value) };
    case 'boolean':
      return { kind: 'boolean', value: sql.raw(storage.value), absentMeans: attribute.absentMeans };
    case 'instant':
      return { kind: 'instant', value: sql.raw(storage.value) };
    case 'location': {
      const type = storage.typeOf ?? `'${storage.resourceType}'`;
      const base = `${context.baseUrl}/`;
      return text(sql`(${base}::text || ${sql.raw(type)} || 's/' || ${sql.raw(storage.id)}::text)`, undefined, true);
    }
    case 'elements':
      throw new Error(`${attribute.name} has several values`);
  }
}

function text(
  value: Fragment,
  folded: { sql: string; by: 'sql' | 'name' | 'version' } | undefined,
  caseExact: boolean,
): Operand {
  if (folded) return { kind: 'text', value, folded: sql.raw(folded.sql), fold: folded.by };
  if (caseExact) return { kind: 'text', value, folded: value, fold: 'none' };
  return { kind: 'text', value, folded: sql`lower(${value})`, fold: 'sql' };
}
