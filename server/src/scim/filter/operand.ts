import { type Fragment, sql } from '../../domain/kernel/sql.ts';
import type { Attribute, Storage } from '../schema/attribute.ts';
import type { AttributeTarget } from '../schema/resource-type.ts';

/** Request context of a compiled filter. */
export interface QueryContext {
  projectId: string;
  /** The project's SCIM base URL, e.g. `https://id.example.com/v1/scim/<project>`. */
  baseUrl: string;
}

/** A value in SQL with its type for comparisons. */
export type Operand =
  | { kind: 'text'; value: Fragment; folded: Fragment; fold: 'none' | 'sql' | 'foldCase' }
  | { kind: 'uuid'; value: Fragment }
  | { kind: 'boolean'; value: Fragment; absentMeans: false | undefined }
  | { kind: 'instant'; value: Fragment };

/** The value of a single-valued attribute, or of a part of it, in the row `r`. */
export function operandOf({ attribute, sub, extension }: AttributeTarget, context: QueryContext): Operand {
  const stored = sub ?? attribute;
  const base = jsonBase(extension);
  const json = sub ? `${base}->'${attribute.name}'->>'${sub.name}'` : `${base}->>'${attribute.name}'`;
  return operand(stored, stored.storage ?? jsonStorage(stored, `(${json})`), context);
}

/** The value of a part of an element `e`, or of the element itself if it has no parts. */
export function elementOperandOf(sub: Attribute | undefined, context: QueryContext): Operand {
  if (!sub) return text(sql.raw('e.value'), undefined, false);
  return operand(sub, sub.storage ?? jsonStorage(sub, `(e.el->>'${sub.name}')`), context);
}

/** The elements of a multi-valued attribute of the row `r`, as a FROM item named `e`. */
export function elementsOf({ attribute, extension }: AttributeTarget): Fragment {
  if (attribute.storage?.kind === 'elements') return sql.raw(attribute.storage.from);
  return sql.raw(`jsonb_array_elements(${jsonBase(extension)}->'${attribute.name}') with ordinality as e(el, n)`);
}

function jsonBase(extension: AttributeTarget['extension']): string {
  return extension ? `r.attributes->'${extension.id}'` : 'r.attributes';
}

function jsonStorage(attribute: Attribute, value: string): Storage {
  return attribute.type === 'boolean' ? { kind: 'boolean', value: `${value}::boolean` } : { kind: 'text', value };
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
      const endpoint = `${context.baseUrl}/${storage.resourceType}s/`;
      return text(sql`(${endpoint}::text || ${sql.raw(storage.id)}::text)`, undefined, true);
    }
    case 'elements':
      throw new Error(`${attribute.name} has several values`);
  }
}

function text(
  value: Fragment,
  folded: { sql: string; by: 'sql' | 'foldCase' } | undefined,
  caseExact: boolean,
): Operand {
  if (caseExact) return { kind: 'text', value, folded: value, fold: 'none' };
  if (folded) return { kind: 'text', value, folded: sql.raw(folded.sql), fold: folded.by };
  return { kind: 'text', value, folded: sql`lower(${value})`, fold: 'sql' };
}
