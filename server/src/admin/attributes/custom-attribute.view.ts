import { GraphQLJSON } from 'graphql-scalars';
import { Field, ObjectType } from 'type-graphql';
import type { CustomAttribute, CustomPart } from '../../domain/users/custom/custom-schema.entity.ts';
import { Access } from '../api/access.ts';
import {
  CustomAudienceEnum,
  CustomMutabilityEnum,
  CustomPartTypeEnum,
  CustomReturnedEnum,
  CustomTypeEnum,
  CustomUniquenessEnum,
} from '../api/enums.ts';

@Access('inherited')
@ObjectType('CustomPart', { description: 'A part of a complex attribute.' })
class CustomPartView {
  @Field(() => String)
  name!: string;

  @Field(() => CustomPartTypeEnum)
  type!: CustomPart['type'];

  @Field(() => String)
  description!: string;

  @Field(() => Boolean)
  caseExact!: boolean;
}

@Access('inherited')
@ObjectType('CustomAttribute', {
  description: 'An attribute that a project has added to its users (RFC 7643 section 7).',
})
export class CustomAttributeView {
  @Field(() => String)
  name!: string;

  @Field(() => String)
  description!: string;

  @Field(() => CustomTypeEnum)
  type!: CustomAttribute['type'];

  @Field(() => Boolean)
  multiValued!: boolean;

  @Field(() => Boolean, { description: 'Directories must send a value for active users.' })
  required!: boolean;

  @Field(() => Boolean)
  caseExact!: boolean;

  @Field(() => CustomMutabilityEnum)
  mutability!: CustomAttribute['mutability'];

  @Field(() => CustomReturnedEnum)
  returned!: CustomAttribute['returned'];

  @Field(() => CustomUniquenessEnum)
  uniqueness!: CustomAttribute['uniqueness'];

  @Field(() => Boolean, { description: 'Filters find equal values by an index.' })
  indexed!: boolean;

  @Field(() => [CustomAudienceEnum], { description: 'Besides admins and directories.' })
  visibleTo!: CustomAttribute['visibleTo'];

  @Field(() => String, { nullable: true, description: 'Another name under which directories send it.' })
  alias!: string | null;

  @Field(() => [CustomPartView])
  subAttributes!: CustomPart[];
}

@Access('inherited')
@ObjectType('CustomValue', { description: 'A custom attribute of a user.' })
export class CustomValueView {
  @Field(() => CustomAttributeView)
  attribute!: CustomAttribute;

  @Field(() => Boolean)
  hasValue!: boolean;

  @Field(() => GraphQLJSON, { nullable: true, description: 'Absent for an attribute that is never returned.' })
  value!: unknown;
}
