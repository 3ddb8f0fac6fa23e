/** An attribute (RFC 7643 §7), with its storage and checks in this server. */
export interface Attribute {
  name: string;
  type: 'string' | 'boolean' | 'integer' | 'dateTime' | 'reference' | 'binary' | 'complex';
  description: string;
  multiValued?: true;
  required?: true;
  caseExact?: true;
  mutability?: 'readOnly' | 'immutable';
  returned?: 'always';
  uniqueness?: 'server' | 'global';
  canonicalValues?: readonly string[];
  referenceTypes?: readonly string[];
  subAttributes?: readonly Attribute[];

  /** Longest value in UTF-16 units. */
  maxLength?: number;
  /** A further check of a value; returns the reason for a refusal. */
  check?: (value: string) => string | undefined;
  /** The parts of a complex attribute that its `value` may contain as text. */
  unpack?: (value: string) => Record<string, string> | undefined;
  /** The value of a missing boolean (RFC 7643 §2.4 for `primary`). */
  absentMeans?: false;
  /** Where it is stored, unless by its name in the row's `attributes`. */
  storage?: Storage;
}

/** SQL over the row `r` (or, in an element of a multi-valued attribute, over `e`) that yields the value. */
export type Storage =
  /** Text in a column; `folded` is compared if case is ignored; `by` folds the other side. */
  | { kind: 'text'; value: string; folded?: { sql: string; by: 'sql' | 'foldCase' } }
  | { kind: 'uuid'; value: string }
  | { kind: 'boolean'; value: string }
  | { kind: 'instant'; value: string }
  /** The address of the resource whose id `id` yields, below the endpoint of `resourceType`. */
  | { kind: 'location'; id: string; resourceType: 'User' | 'Group' | 'Role' | 'Entitlement' }
  /** The elements of a multi-valued attribute, as a FROM item named `e`. */
  | { kind: 'elements'; from: string };

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

export const isReadOnly = ({ mutability }: Attribute): boolean => mutability === 'readOnly';
