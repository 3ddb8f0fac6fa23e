import { InputType } from 'type-graphql';
import {
  CustomAudienceEnum,
  CustomMutabilityEnum,
  CustomPartTypeEnum,
  CustomReturnedEnum,
  CustomTypeEnum,
  CustomUniquenessEnum,
} from '../api/enums.ts';
import { boolean, id, inputFields, json, list, nullable, object, oneOf, text } from '../api/fields.ts';

@InputType({ description: 'A part of a complex attribute.' })
class CustomPartInput extends inputFields({
  name: text(),
  type: oneOf(CustomPartTypeEnum),
  description: nullable(text()),
  caseExact: nullable(boolean()),
}) {}

const customAttributeFields = {
  projectId: id(),
  name: text('Letters, digits, _ and -. It cannot be changed.'),
  description: nullable(text()),
  multiValued: nullable(boolean()),
  required: nullable(boolean()),
  caseExact: nullable(boolean()),
  mutability: nullable(oneOf(CustomMutabilityEnum, 'READ_ONLY: only admins write it.')),
  returned: nullable(oneOf(CustomReturnedEnum)),
  uniqueness: nullable(oneOf(CustomUniquenessEnum, 'SERVER: unique in the project.')),
  indexed: nullable(boolean()),
  visibleTo: nullable(list(oneOf(CustomAudienceEnum))),
  alias: nullable(text('Blank: none.')),
  subAttributes: nullable(list(object(CustomPartInput))),
};

@InputType()
export class CreateCustomAttributeInput extends inputFields({
  ...customAttributeFields,
  type: oneOf(CustomTypeEnum),
}) {}

@InputType({
  description:
    'Absent fields are unchanged. While users have values, these are fixed: type, parts, multiValued, caseExact, uniqueness, indexed.',
})
export class UpdateCustomAttributeInput extends inputFields({
  ...customAttributeFields,
  type: nullable(oneOf(CustomTypeEnum)),
}) {}

@InputType()
export class CustomValueInput extends inputFields({
  name: text(),
  value: nullable(json('Null removes it.')),
}) {}

@InputType({ description: 'Other attributes are unchanged.' })
export class UpdateCustomValuesInput extends inputFields({
  id: id(),
  values: list(object(CustomValueInput)),
}) {}
