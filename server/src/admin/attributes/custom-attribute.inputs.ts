import { GraphQLJSON } from 'graphql-scalars';
import { Field, ID, InputType } from 'type-graphql';
import type { CustomAttribute, CustomPart } from '../../domain/users/custom/custom-schema.entity.ts';
import {
  CustomAudienceEnum,
  CustomMutabilityEnum,
  CustomPartTypeEnum,
  CustomReturnedEnum,
  CustomTypeEnum,
  CustomUniquenessEnum,
} from '../api/enums.ts';

@InputType({ description: 'A part of a complex attribute.' })
class CustomPartInput {
  @Field(() => String)
  name!: string;

  @Field(() => CustomPartTypeEnum)
  type!: CustomPart['type'];

  @Field(() => String, { nullable: true })
  description?: string | null;

  @Field(() => Boolean, { nullable: true })
  caseExact?: boolean | null;
}

@InputType()
class CustomAttributeFields {
  @Field(() => ID)
  projectId!: string;

  @Field(() => String, { description: 'Letters, digits, _ and -. It cannot be changed.' })
  name!: string;

  @Field(() => String, { nullable: true })
  description?: string | null;

  @Field(() => Boolean, { nullable: true })
  multiValued?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  required?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  caseExact?: boolean | null;

  @Field(() => CustomMutabilityEnum, { nullable: true, description: 'READ_ONLY: only admins write it.' })
  mutability?: CustomAttribute['mutability'] | null;

  @Field(() => CustomReturnedEnum, { nullable: true })
  returned?: CustomAttribute['returned'] | null;

  @Field(() => CustomUniquenessEnum, { nullable: true, description: 'SERVER: unique in the project.' })
  uniqueness?: CustomAttribute['uniqueness'] | null;

  @Field(() => Boolean, { nullable: true })
  indexed?: boolean | null;

  @Field(() => [CustomAudienceEnum], { nullable: true })
  visibleTo?: CustomAttribute['visibleTo'] | null;

  @Field(() => String, { nullable: true, description: 'Blank: none.' })
  alias?: string | null;

  @Field(() => [CustomPartInput], { nullable: true })
  subAttributes?: CustomPartInput[] | null;
}

@InputType()
export class CreateCustomAttributeInput extends CustomAttributeFields {
  @Field(() => CustomTypeEnum)
  type!: CustomAttribute['type'];
}

@InputType({
  description:
    'Absent fields are unchanged. While users have values, these are fixed: type, parts, multiValued, caseExact, uniqueness, indexed.',
})
export class UpdateCustomAttributeInput extends CustomAttributeFields {
  @Field(() => CustomTypeEnum, { nullable: true })
  type?: CustomAttribute['type'] | null;
}

@InputType()
export class CustomValueInput {
  @Field(() => String)
  name!: string;

  @Field(() => GraphQLJSON, { nullable: true, description: 'Null removes it.' })
  value?: unknown;
}

@InputType({ description: 'Other attributes are unchanged.' })
export class UpdateCustomValuesInput {
  @Field(() => ID)
  id!: string;

  @Field(() => [CustomValueInput])
  values!: CustomValueInput[];
}
