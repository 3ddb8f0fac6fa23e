import type { Attribute } from '../schema/attribute.ts';
import type { AttributeTarget } from '../schema/resource-type.ts';

export const comparisons = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
export type Comparison = (typeof comparisons)[number];

/** A JSON literal (RFC 7644 §3.4.2.2). */
export type Literal = string | number | boolean | null;

/** A filter whose names have been found in the schema and whose values fit them. */
export type Filter<Ref> =
  | { kind: 'and' | 'or'; terms: readonly Filter<Ref>[] }
  | { kind: 'not'; term: Filter<Ref> }
  | { kind: 'compare'; ref: Ref; comparison: Comparison; value: Literal }
  | { kind: 'present'; ref: Ref }
  /** `attr[…]`: one element of a multi-valued attribute. */
  | { kind: 'element'; ref: Ref; filter: Filter<Attribute> };

/** A filter of resources. */
export type ResourceFilter = Filter<AttributeTarget>;
/** A filter of the elements of one multi-valued attribute, by their sub-attributes. */
export type ElementFilter = Filter<Attribute>;

/** The target of a PATCH path (RFC 7644 §3.5.2). */
export type Path =
  | { kind: 'schema'; schema: import('../schema/attribute.ts').Schema }
  | { kind: 'ignored' }
  | { kind: 'attribute'; target: AttributeTarget; filter?: ElementFilter };
