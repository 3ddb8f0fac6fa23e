import { type Fragment, sql } from '../../domain/kernel/sql.ts';
import { type Attribute, attributeNamed, isHidden, type Schema } from './attribute.ts';
import { groupSchema } from './group.ts';
import { offeredSchema, oktaRoleSchema } from './role.ts';
import { enterpriseSchema, userSchema } from './user.ts';

/** A resource type (RFC 7643 §6). */
export interface ResourceType {
  name: 'User' | 'Group' | 'Role' | 'Entitlement';
  endpoint: '/Users' | '/Groups' | '/Roles' | '/Entitlements';
  description: string;
  schema: Schema;
  extensions: readonly Schema[];
  /** Common attributes (RFC 7643 §3.1). */
  common: readonly Attribute[];
  /** A schema of other attributes of the same resources, which is announced as a separate resource type. */
  also?: Schema;
  /** Attributes that are accepted and dropped: never stored, never returned. */
  dropped: readonly string[];
  /** The extension of the project's custom attributes. */
  custom?: Schema;
  /** Custom attributes by other names under which directories send them, in lower case. */
  aliases?: ReadonlyMap<string, Attribute>;
}

/** The target of an attribute name. */
export type Target =
  | AttributeTarget
  /** A schema as a whole: the core one, or an extension. */
  | { kind: 'schema'; schema: Schema }
  /** Accepted and ignored: an unknown schema, or a dropped attribute. */
  | { kind: 'ignored' };

export interface AttributeTarget {
  kind: 'attribute';
  attribute: Attribute;
  sub?: Attribute;
  /** Set if the attribute belongs to an extension. */
  extension?: Schema;
}

function commonAttributes(type: ResourceType['name'], schemas: Fragment): readonly Attribute[] {
  const readOnly = { mutability: 'readOnly' } as const;
  // Without the digest that users in groups have after a dash.
  const version = `'W/"' || r.version || '"'`;
  return [
    {
      name: 'schemas',
      type: 'reference',
      multiValued: true,
      returned: 'always',
      description: 'The schemas that the resource follows.',
      storage: { kind: 'elements', from: schemas },
      ...readOnly,
    },
    {
      name: 'id',
      type: 'string',
      caseExact: true,
      returned: 'always',
      uniqueness: 'global',
      description: 'The identifier assigned by this server.',
      storage: { kind: 'uuid', value: 'r.id' },
      ...readOnly,
    },
    {
      name: 'externalId',
      type: 'string',
      caseExact: true,
      maxLength: 512,
      description: 'The identifier assigned by the directory.',
      storage: { kind: 'text', value: 'r.external_id' },
    },
    {
      name: 'meta',
      type: 'complex',
      description: 'Metadata of the resource.',
      ...readOnly,
      subAttributes: [
        {
          name: 'resourceType',
          type: 'string',
          caseExact: true,
          description: 'The kind of resource.',
          storage: { kind: 'text', value: `'${type}'::text` },
          ...readOnly,
        },
        {
          name: 'created',
          type: 'dateTime',
          description: 'When it was created.',
          storage: { kind: 'instant', value: 'r.created_at' },
          ...readOnly,
        },
        {
          name: 'lastModified',
          type: 'dateTime',
          description: 'When it was last changed.',
          storage: { kind: 'instant', value: 'r.updated_at' },
          ...readOnly,
        },
        {
          name: 'location',
          type: 'reference',
          caseExact: true,
          description: 'Its address.',
          storage: { kind: 'location', id: 'r.id', resourceType: type },
          ...readOnly,
        },
        {
          name: 'version',
          type: 'string',
          caseExact: true,
          description: 'Its version, the ETag.',
          storage: { kind: 'text', value: version, folded: { sql: version, by: 'version' } },
          ...readOnly,
        },
      ],
    },
  ];
}

/** The common attributes of users. `schemas` of a user lists those extensions of which a response shows an attribute. */
export function userSchemas(extensions: readonly Schema[]): readonly Attribute[] {
  const ids = extensions.map(({ id, attributes }) => {
    const shown = attributes.filter((attribute) => !isHidden(attribute)).map(({ name }) => name);
    return sql`(case when r.attributes->${id}::text ?| ${shown}::text[] then ${id}::text end)`;
  });
  return commonAttributes('User', elementsFrom([sql`(${userSchema.id}::text)`, ...ids]));
}

const elementsFrom = (rows: readonly Fragment[]): Fragment => sql`(values ${sql.join([...rows], sql`, `)}) e(value)`;

export const userType: ResourceType = {
  name: 'User',
  endpoint: '/Users',
  description: 'User Account',
  schema: userSchema,
  extensions: [enterpriseSchema],
  common: userSchemas([enterpriseSchema]),
  dropped: ['password'],
};

export const groupType: ResourceType = {
  name: 'Group',
  endpoint: '/Groups',
  description: 'Group',
  schema: groupSchema,
  extensions: [],
  common: commonAttributes('Group', elementsFrom([sql`(${groupSchema.id}::text)`])),
  dropped: [],
};

export const roleType = offeredType('Role', oktaRoleSchema);
export const entitlementType = offeredType('Entitlement');

/** The roles of applications, as a resource type that is only read. They have no externalId and no version. */
function offeredType(name: 'Role' | 'Entitlement', also?: Schema): ResourceType {
  const schema = offeredSchema(name);
  const urns = [schema, ...(also ? [also] : [])].map(({ id }) => sql`(${id}::text)`);
  const common = commonAttributes(name, elementsFrom(urns)).flatMap((attribute) => {
    if (attribute.name === 'externalId') return [];
    const subAttributes = attribute.subAttributes?.filter((sub) => sub.name !== 'version');
    return [subAttributes ? { ...attribute, subAttributes } : attribute];
  });
  return {
    name,
    endpoint: name === 'Role' ? '/Roles' : '/Entitlements',
    description: 'Roles of applications',
    schema,
    extensions: [],
    common: [...common, ...(also?.attributes ?? [])],
    ...(also ? { also } : {}),
    dropped: [],
  };
}

/** Every resource type of a project, by the type of its users. */
export const resourceTypesWith = (users: ResourceType): readonly ResourceType[] => [
  users,
  groupType,
  roleType,
  entitlementType,
];

/**
 * Resolves `attr`, `attr.sub`, either after a schema's URN and a colon, or a URN alone, ignoring case. Undefined if a known
 * schema has no such attribute.
 */
export function resolve(type: ResourceType, name: string): Target | undefined {
  const ofResource = [type.schema, ...(type.also ? [type.also] : [])];
  if (!/^urn:/i.test(name)) return resolveIn(type, undefined, name);
  const lower = name.toLowerCase();
  for (const schema of [...ofResource, ...type.extensions]) {
    const urn = schema.id.toLowerCase();
    if (lower === urn) return { kind: 'schema', schema };
    if (lower.startsWith(`${urn}:`) || lower.startsWith(`${urn}.`)) {
      const known = resolveIn(type, ofResource.includes(schema) ? undefined : schema, name.slice(urn.length + 1));
      return known ?? aliasOf(type, name);
    }
  }
  return aliasOf(type, name) ?? { kind: 'ignored' };
}

/** The custom attribute that directories send under this name, which is no other attribute's and is not dropped. */
function aliasOf({ aliases, custom }: ResourceType, name: string): AttributeTarget | undefined {
  const attribute = aliases?.get(name.toLowerCase());
  return attribute && custom && { kind: 'attribute', attribute, extension: custom };
}

/** Whether directories send custom attributes as members of an object under this URN. */
export function hasAliases({ aliases }: ResourceType, urn: string): boolean {
  return [...(aliases?.keys() ?? [])].some((alias) => alias.startsWith(`${urn.toLowerCase()}:`));
}

function resolveIn(type: ResourceType, extension: Schema | undefined, name: string): Target | undefined {
  const [first = '', second, ...rest] = name.split('.');
  if (rest.length > 0) return undefined;
  const attribute = extension
    ? attributeNamed(extension.attributes, first)
    : (attributeNamed(type.schema.attributes, first) ?? attributeNamed(type.common, first));
  if (!attribute && extension) return undefined;
  if (!attribute) return type.dropped.includes(first.toLowerCase()) ? { kind: 'ignored' } : aliasOf(type, name);
  const inExtension = extension ? { extension } : {};
  if (second === undefined) return { kind: 'attribute', attribute, ...inExtension };
  const sub = attributeNamed(attribute.subAttributes, second);
  return sub && { kind: 'attribute', attribute, sub, ...inExtension };
}
