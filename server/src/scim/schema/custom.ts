import type { CustomAttribute, CustomPart } from '../../domain/users/custom/custom-schema.entity.ts';
import { customUrn } from '../../domain/users/custom/definition.ts';
import { type CustomSchema, keyOf, readScalar } from '../../domain/users/custom/values.ts';
import type { Attribute, Schema } from './attribute.ts';
import { type ResourceType, userSchemas, userType } from './resource-type.ts';

const types = new WeakMap<CustomSchema, ResourceType>();

/** The resource type of a project's users: with its custom attributes as an extension, if it has any. */
export function userTypeOf(definitions: CustomSchema): ResourceType {
  if (definitions.attributes.length === 0) return userType;
  const known = types.get(definitions);
  if (known) return known;
  const schema: Schema = {
    id: customUrn,
    name: 'CustomUser',
    description: 'Custom attributes of this project',
    attributes: definitions.attributes.map(attributeOf),
  };
  const aliases = definitions.attributes.flatMap(({ alias }, at) => {
    const attribute = schema.attributes[at];
    return alias !== null && attribute ? [[alias.toLowerCase(), attribute] as const] : [];
  });
  const extensions = [...userType.extensions, schema];
  const type = { ...userType, extensions, common: userSchemas(extensions), custom: schema, aliases: new Map(aliases) };
  types.set(definitions, type);
  return type;
}

function attributeOf(definition: CustomAttribute): Attribute {
  const { name, type, multiValued, required, mutability, returned, uniqueness, indexed, subAttributes } = definition;
  const isKey = indexed || uniqueness === 'server';
  return {
    ...partOf(definition),
    type,
    ...(multiValued ? { multiValued } : {}),
    ...(required ? { required } : {}),
    ...(mutability === 'readWrite' ? {} : { mutability }),
    ...(returned === 'default' ? {} : { returned }),
    ...(uniqueness === 'none' ? {} : { uniqueness }),
    ...(isKey
      ? { index: { attribute: name, keyOf: (value: unknown) => keyOf(definition, normal(definition, value)) } }
      : {}),
    ...(type === 'complex' ? { subAttributes: subAttributes.map((part) => inherited(partOf(part), definition)) } : {}),
  };
}

function partOf({ name, type, description, caseExact }: CustomPart | CustomAttribute): Attribute {
  return {
    name,
    type,
    description,
    ...(caseExact ? { caseExact } : {}),
    ...(type === 'reference' ? { referenceTypes: ['external'] } : {}),
    ...(type === 'complex' ? {} : { read: (value: unknown) => readScalar(type, value) }),
  };
}

/** A value of a filter in its stored form, if it has one: else nothing is equal to it. */
function normal({ type }: CustomAttribute, value: unknown): unknown {
  const read = type === 'complex' ? { value } : readScalar(type, value);
  return 'fault' in read ? value : read.value;
}

/** A part has the mutability of its attribute, and is never returned if the attribute is not. */
function inherited(part: Attribute, { mutability, returned }: CustomAttribute): Attribute {
  return {
    ...part,
    ...(mutability === 'readWrite' ? {} : { mutability }),
    ...(returned === 'never' ? { returned } : {}),
  };
}
