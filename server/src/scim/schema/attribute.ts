/** One attribute as RFC 7643 §7 describes it, and what this server knows of it besides. */
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
  /** What more is asked of a value: the reason why it is refused. */
  check?: (value: string) => string | undefined;
  /** What a missing boolean counts as (RFC 7643 §2.4 for `primary`). */
  absentMeans?: false;
  /** Where it is stored, unless under its own name in the row's `attributes`. */
  storage?: Storage;
}

/** SQL over the row `r` (or, in an element of a multi-valued attribute, over `e`) that yields the value. */
export type Storage =
  /** Text in a column; `folded` is what is compared where case does not count, made by `by`. */
  | { kind: 'text'; value: string; folded?: { sql: string; by: 'sql' | 'foldCase' } }
  | { kind: 'uuid'; value: string }
  | { kind: 'boolean'; value: string }
  | { kind: 'instant'; value: string }
  /** The address of the resource whose id `id` yields, below the endpoint of `resourceType`. */
  | { kind: 'location'; id: string; resourceType: 'User' | 'Group' }
  /** The elements of a multi-valued attribute, as a FROM item named `e`. */
  | { kind: 'elements'; from: string };

/** A schema (RFC 7643 §7): what `/Schemas` shows is what is read, stored, filtered, sorted, patched and returned. */
export interface Schema {
  id: string;
  name: string;
  description: string;
  attributes: readonly Attribute[];
}

/** Text that may be as long as no index is concerned. */
export const defaultMaxLength = 8192;

/** Finds among `attributes` by a name in any case. Names from outside are only ever compared. */
export function attributeNamed(attributes: readonly Attribute[] | undefined, name: string): Attribute | undefined {
  const wanted = name.toLowerCase();
  return attributes?.find((attribute) => attribute.name.toLowerCase() === wanted);
}

/** The sub-attribute that a complex value speaks of when it is compared as a whole. */
export function defaultSubAttribute(attribute: Attribute): Attribute | undefined {
  return attributeNamed(attribute.subAttributes, 'value');
}

export const isReadOnly = ({ mutability }: Attribute): boolean => mutability === 'readOnly';
