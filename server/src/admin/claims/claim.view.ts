import { ObjectType } from 'type-graphql';
import { Access } from '../api/access.ts';
import { ClaimListEnum, GroupSelectionEnum, OmissionEnum } from '../api/enums.ts';
import { boolean, fields, id, int, json, jsonObject, list, nullable, object, oneOf, text } from '../api/fields.ts';

@Access('inherited')
@ObjectType('ListFilter', { description: 'The entries of a list that begin with a prefix.' })
class ListFilterView extends fields({
  of: oneOf(ClaimListEnum),
  prefix: text(),
  removePrefix: boolean(),
}) {}

@Access('inherited')
@ObjectType('ClaimMapping', {
  description: 'A claim and its source: one of `attribute`, `constant`, `template` and `list`.',
})
class ClaimMappingView extends fields({
  claim: text(),
  scope: nullable(text('Sent only with this scope; absent: always.')),
  attribute: nullable(text()),
  constant: nullable(json()),
  template: nullable(text()),
  list: nullable(object(ListFilterView)),
}) {}

@Access('inherited')
@ObjectType('ClaimSettings', { description: 'The claims of an application at the project issuer.' })
export class ClaimSettingsView extends fields({
  clientId: id(),
  groups: oneOf(GroupSelectionEnum, 'ASSIGNED: groups that hold a role of the application.'),
  groupPrefix: nullable(text()),
  listLimit: int('Longer lists are only in UserInfo, and the ID token refers to it.'),
  rolesClaim: text('The claim of the scope `roles`.'),
  directoryRoles: boolean('Whether SCIM `roles` are part of that claim.'),
  mappings: list(object(ClaimMappingView)),
  version: int('Send it as `expectedVersion` to detect concurrent changes.'),
  attributes: list(text('The attributes that mappings and templates can name.')),
}) {}

@Access('inherited')
@ObjectType('PreviewedClaim')
class PreviewedClaimView extends fields({
  name: text(),
  value: json(),
  scope: nullable(text('The scope that releases it; absent: it is always sent.')),
  mapping: nullable(object(ClaimMappingView, 'The mapping that made it; absent: the scope.')),
}) {}

@Access('inherited')
@ObjectType('OmittedClaim', { description: 'A mapped claim that is not sent.' })
class OmittedClaimView extends fields({
  name: text(),
  reason: oneOf(OmissionEnum),
  mapping: object(ClaimMappingView),
}) {}

@Access('inherited')
@ObjectType('ClaimPreview', { description: 'The claims that an application receives about a user.' })
export class ClaimPreviewView extends fields({
  claims: list(object(PreviewedClaimView)),
  omitted: list(object(OmittedClaimView)),
  idToken: jsonObject('Without the claims of the protocol, such as `exp`.'),
  userInfo: jsonObject(),
}) {}
