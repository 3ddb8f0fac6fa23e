import type { Fragment } from '../../domain/kernel/sql.ts';

/** An attribute (RFC 7643 §7), with its storage and checks in this server. */
export interface Attribute {
  name: string;
  type: 'string' | 'boolean' | 'integer' | 'decimal' | 'dateTime' | 'reference' | 'binary' | 'complex';
  description: string;
  multiValued?: true;
  required?: true;
  caseExact?: true;
  mutability?: 'readOnly' | 'immutable' | 'writeOnly';
  returned?: 'always' | 'request' | 'never';
  uniqueness?: 'server' | 'global';
  canonicalValues?: readonly string[];
  referenceTypes?: readonly string[];
  subAttributes?: readonly Attribute[];

  /** Maximum length in UTF-16 units. */
  maxLength?: number;
  /** An additional check of a value; returns the reason for a refusal. */
  check?: (value: string) => string | undefined;
  /** Parses a value of a custom attribute, or returns the reason for a refusal; instead of `check`. */
  read?: (value: unknown) => { value: unknown } | { fault: string };
  /** The index of values that contains it, for equality. */
  index?: { attribute: string; keyOf: (value: unknown) => string };
  /** Elements whose value and type differ only in case are one. Not for roles, whose keys are case-exact. */
  ignoresCase?: true;
  /** The value of a missing boolean (RFC 7643 §2.4 for `primary`). */
  absentMeans?: false;
  /** Its storage, unless it is under its name in the row's `attributes`. */
  storage?: Storage;
}

/** SQL over the row `r` (or, in an element of a multi-valued attribute, over `e`) that yields the value. */
export type Storage =
  /** Text in a column; `folded` is compared if there is one; `by` folds the other side. */
  | { kind: 'text'; value: string; folded?: { sql: string; by: 'sql' | 'name' | 'version' } }
  | { kind: 'uuid'; value: string }
  | { kind: 'boolean'; value: string }
  | { kind: 'instant'; value: string }
  /**
   * The address of the resource whose id `id` yields, below the endpoint of `resourceType`, or of the type that `typeOf`
   * yields.
   */
  | { kind: 'location'; id: string; resourceType: 'User' | 'Group' | 'Role' | 'Entitlement'; typeOf?: string }
  /** The elements of a multi-valued attribute, as a FROM item named `e`. */
  | { kind: 'elements'; from: Fragment };

/** A schema (RFC 7643 §7). Parser, storage, filters, sorting, PATCH, responses and `/Schemas` all derive from it. */
export interface Schema {
  id: string;
  name: string;
  description: string;
  attributes: readonly Attribute[];
}

/** Maximum length of text that no index contains. */
export const defaultMaxLength = 8192;

/** Finds an attribute by its name, ignoring case. */
export function attributeNamed(attributes: readonly Attribute[] | undefined, name: string): Attribute | undefined {
  const wanted = name.toLowerCase();
  return attributes?.find((attribute) => attribute.name.toLowerCase() === wanted);
}

/** The sub-attribute compared when a filter names the complex attribute as a whole. */
export function defaultSubAttribute(attribute: Attribute): Attribute | undefined {
  return attributeNamed(attribute.subAttributes, 'value');
}

/** The value of a multi-valued attribute without parts, as filters name it (RFC 7643 §2.4). */
export function elementValue(attribute: Attribute): Attribute {
  const { multiValued: _, ...single } = attribute;
  return { ...single, name: 'value' };
}

/** Whether filters and orders must not name it: they would reveal its value. */
export const isHidden = ({ returned }: Attribute): boolean => returned === 'never';

export const isReadOnly = ({ mutability }: Attribute): boolean => mutability === 'readOnly';
