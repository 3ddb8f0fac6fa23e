import { GraphQLJSON, GraphQLJSONObject } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { ClaimList } from '../../domain/claims/claim-settings.entity.ts';
import type { ClaimSettings } from '../../domain/claims/claim-settings.ts';
import { Access } from '../api/access.ts';
import { ClaimListEnum, GroupSelectionEnum, OmissionEnum } from '../api/enums.ts';

@Access('inherited')
@ObjectType('ListFilter', { description: 'The entries of a list that begin with a prefix.' })
class ListFilterView {
  @Field(() => ClaimListEnum)
  of!: ClaimList;

  @Field(() => String)
  prefix!: string;

  @Field(() => Boolean)
  removePrefix!: boolean;
}

@Access('inherited')
@ObjectType('ClaimMapping', {
  description: 'A claim and its source: one of `attribute`, `constant`, `template` and `list`.',
})
export class ClaimMappingView {
  @Field(() => String)
  claim!: string;

  @Field(() => String, { nullable: true, description: 'Sent only with this scope; absent: always.' })
  scope!: string | null;

  @Field(() => String, { nullable: true })
  attribute?: string;

  @Field(() => GraphQLJSON, { nullable: true })
  constant?: unknown;

  @Field(() => String, { nullable: true })
  template?: string;

  @Field(() => ListFilterView, { nullable: true })
  list?: ListFilterView;
}

@Access('inherited')
@ObjectType('ClaimSettings', { description: 'The claims of an application at the project issuer.' })
export class ClaimSettingsView {
  @Field(() => ID)
  clientId!: string;

  @Field(() => GroupSelectionEnum, { description: 'ASSIGNED: groups that hold a role of the application.' })
  groups!: ClaimSettings['groups'];

  @Field(() => String, { nullable: true })
  groupPrefix!: string | null;

  @Field(() => Int, { description: 'A longer list is left to UserInfo, and the ID token refers to it.' })
  listLimit!: number;

  @Field(() => String, { description: 'The claim of the scope `roles`.' })
  rolesClaim!: string;

  @Field(() => Boolean, { description: 'Whether SCIM `roles` are part of that claim.' })
  directoryRoles!: boolean;

  @Field(() => [ClaimMappingView])
  mappings!: ClaimMappingView[];

  @Field(() => Int, { description: 'Send it as `expectedVersion` to detect concurrent changes.' })
  version!: number;

  @Field(() => [String], { description: 'The attributes that mappings and templates can name.' })
  attributes!: readonly string[];
}

@Access('inherited')
@ObjectType('PreviewedClaim')
class PreviewedClaimView {
  @Field(() => String)
  name!: string;

  @Field(() => GraphQLJSON)
  value!: unknown;

  @Field(() => String, { nullable: true, description: 'The scope that releases it; absent: it is always sent.' })
  scope!: string | null;

  @Field(() => ClaimMappingView, { nullable: true, description: 'The mapping that made it; absent: the scope.' })
  mapping!: ClaimMappingView | null;
}

@Access('inherited')
@ObjectType('OmittedClaim', { description: 'A mapped claim that is not sent.' })
class OmittedClaimView {
  @Field(() => String)
  name!: string;

  @Field(() => OmissionEnum)
  reason!: string;

  @Field(() => ClaimMappingView)
  mapping!: ClaimMappingView;
}

@Access('inherited')
@ObjectType('ClaimPreview', { description: 'The claims that an application receives about a user.' })
export class ClaimPreviewView {
  @Field(() => [PreviewedClaimView])
  claims!: PreviewedClaimView[];

  @Field(() => [OmittedClaimView])
  omitted!: OmittedClaimView[];

  @Field(() => GraphQLJSONObject, { description: 'Without the claims of the protocol, such as `exp`.' })
  idToken!: object;

  @Field(() => GraphQLJSONObject)
  userInfo!: object;
}
