import { GraphQLJSON } from 'graphql-scalars';
import { Field, ID, InputType, Int } from 'type-graphql';
import type { ClaimList } from '../../domain/claims/claim-settings.entity.ts';
import type { ClaimSettings } from '../../domain/claims/claim-settings.ts';
import { ClaimListEnum, GroupSelectionEnum } from '../api/enums.ts';

@InputType()
class ListFilterInput {
  @Field(() => ClaimListEnum)
  of!: ClaimList;

  @Field(() => String, { nullable: true, description: 'Default: all entries.' })
  prefix?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Default: false.' })
  removePrefix?: boolean | null;
}

@InputType({ description: 'Exactly one of `attribute`, `constant`, `template` and `list`.' })
class ClaimMappingInput {
  @Field(() => String, { description: 'Claims of OpenID Connect and of JWT are reserved.' })
  claim!: string;

  @Field(() => String, { nullable: true, description: 'Sent only with this scope; absent: always.' })
  scope?: string | null;

  @Field(() => String, { nullable: true, description: 'One of `ClaimSettings.attributes`.' })
  attribute?: string | null;

  @Field(() => GraphQLJSON, { nullable: true, description: 'Text, a number, true, false or a list of texts.' })
  constant?: unknown;

  @Field(() => String, { nullable: true, description: 'Text with attributes, e.g. ${userName}@example.com.' })
  template?: string | null;

  @Field(() => ListFilterInput, { nullable: true })
  list?: ListFilterInput | null;
}

@InputType({ description: 'Absent fields are unchanged.' })
export class ClaimSettingsInput {
  @Field(() => GroupSelectionEnum, { nullable: true, description: 'Default: ALL.' })
  groups?: ClaimSettings['groups'] | null;

  @Field(() => String, { nullable: true, description: 'For PREFIX.' })
  groupPrefix?: string | null;

  @Field(() => Int, { nullable: true, description: '1 to 1000; default: 200.' })
  listLimit?: number | null;

  @Field(() => String, { nullable: true, description: 'Default: roles.' })
  rolesClaim?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Default: false.' })
  directoryRoles?: boolean | null;

  @Field(() => [ClaimMappingInput], { nullable: true, description: 'At most 30; replaces all.' })
  mappings?: ClaimMappingInput[] | null;
}

@InputType({ description: 'Absent fields are unchanged.' })
export class UpdateClaimSettingsInput extends ClaimSettingsInput {
  @Field(() => ID)
  clientId!: string;

  @Field(() => Int, { nullable: true })
  expectedVersion?: number | null;
}
