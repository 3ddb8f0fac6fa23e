import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../kernel/columns.ts';
import { tenant } from '../../projects/tenant.ts';

export const scalarTypes = ['string', 'boolean', 'integer', 'decimal', 'dateTime', 'reference'] as const;
export type ScalarType = (typeof scalarTypes)[number];
export const customTypes = [...scalarTypes, 'complex'] as const;
export const mutabilities = ['readWrite', 'readOnly', 'immutable', 'writeOnly'] as const;
export const returnedValues = ['default', 'always', 'request', 'never'] as const;
export const uniquenesses = ['none', 'server'] as const;
/** Readers of values in addition to admins and directories: applications, by claims mapping; the user, on the account page. */
export const audiences = ['applications', 'user'] as const;

/** A part of a complex attribute; it has one value. */
export interface CustomPart {
  name: string;
  type: ScalarType;
  description: string;
  caseExact: boolean;
}

/** A custom attribute of a project's users (RFC 7643 §7). */
export interface CustomAttribute {
  /** Part of the path of each stored value, so it never changes. */
  name: string;
  description: string;
  type: (typeof customTypes)[number];
  multiValued: boolean;
  /** Directories must send a value for active users. */
  required: boolean;
  /** For text only. */
  caseExact: boolean;
  /** `readOnly`: only admins write it. */
  mutability: (typeof mutabilities)[number];
  returned: (typeof returnedValues)[number];
  uniqueness: (typeof uniquenesses)[number];
  /** Whether filters find equal values by an index. */
  indexed: boolean;
  visibleTo: (typeof audiences)[number][];
  /** Another name under which directories send it, e.g. in their own extension. */
  alias: string | null;
  /** Empty unless `complex`. */
  subAttributes: CustomPart[];
}

const schema = defineEntity({
  name: 'CustomSchemaRow',
  tableName: 'custom_schemas',
  properties: {
    project: tenant,
    /** Incremented by each change of the definitions. */
    version: p.integer(),
    attributes: p.json<CustomAttribute[]>(),
    /** Names of deleted attributes whose values are still being deleted. */
    removed: p.array(),
    updatedAt: instant(),
  },
});

/** The custom attributes of a project's users; without a row, there are none. */
export class CustomSchemaRow extends schema.class {}
schema.setClass(CustomSchemaRow);
