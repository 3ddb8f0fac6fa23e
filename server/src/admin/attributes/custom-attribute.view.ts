import { ObjectType } from 'type-graphql';
import { Access } from '../api/access.ts';
import {
  CustomAudienceEnum,
  CustomMutabilityEnum,
  CustomPartTypeEnum,
  CustomReturnedEnum,
  CustomTypeEnum,
  CustomUniquenessEnum,
} from '../api/enums.ts';
import { boolean, fields, json, list, nullable, object, oneOf, text } from '../api/fields.ts';

@Access('inherited')
@ObjectType('CustomPart', { description: 'A part of a complex attribute.' })
class CustomPartView extends fields({
  name: text(),
  type: oneOf(CustomPartTypeEnum),
  description: text(),
  caseExact: boolean(),
}) {}

@Access('inherited')
@ObjectType('CustomAttribute', {
  description: 'An attribute that a project has added to its users (RFC 7643 section 7).',
})
export class CustomAttributeView extends fields({
  name: text(),
  description: text(),
  type: oneOf(CustomTypeEnum),
  multiValued: boolean(),
  required: boolean('Directories must send a value for active users.'),
  caseExact: boolean(),
  mutability: oneOf(CustomMutabilityEnum),
  returned: oneOf(CustomReturnedEnum),
  uniqueness: oneOf(CustomUniquenessEnum),
  indexed: boolean('Filters find equal values by an index.'),
  visibleTo: list(oneOf(CustomAudienceEnum, 'Besides admins and directories.')),
  alias: nullable(text('Another name under which directories send it.')),
  subAttributes: list(object(CustomPartView)),
}) {}

@Access('inherited')
@ObjectType('CustomValue', { description: 'A custom attribute of a user.' })
export class CustomValueView extends fields({
  attribute: object(CustomAttributeView),
  hasValue: boolean(),
  value: nullable(json('Absent for an attribute that is never returned.')),
}) {}
