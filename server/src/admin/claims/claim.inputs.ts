import { InputType } from 'type-graphql';
import { ClaimListEnum, GroupSelectionEnum } from '../api/enums.ts';
import { boolean, id, inputFields, int, json, list, nullable, object, oneOf, text } from '../api/fields.ts';

@InputType()
class ListFilterInput extends inputFields({
  of: oneOf(ClaimListEnum),
  prefix: nullable(text('Default: all entries.')),
  removePrefix: nullable(boolean('Default: false.')),
}) {}

@InputType({ description: 'Exactly one of `attribute`, `constant`, `template` and `list`.' })
class ClaimMappingInput extends inputFields({
  claim: text('Claims of OpenID Connect and of JWT are reserved.'),
  scope: nullable(text('Sent only with this scope; absent: always.')),
  attribute: nullable(text('One of `ClaimSettings.attributes`.')),
  constant: nullable(json('Text, a number, true, false or a list of texts.')),
  template: nullable(text('Text with attributes, e.g. ${userName}@example.com.')),
  list: nullable(object(ListFilterInput)),
}) {}

const claimSettings = {
  groups: nullable(oneOf(GroupSelectionEnum, 'Default: ALL.')),
  groupPrefix: nullable(text('For PREFIX.')),
  listLimit: nullable(int('1 to 1000; default: 200.')),
  rolesClaim: nullable(text('Default: roles.')),
  directoryRoles: nullable(boolean('Default: false.')),
  mappings: nullable(list(object(ClaimMappingInput, 'At most 30; replaces all.'))),
};

@InputType({ description: 'Absent fields are unchanged.' })
export class ClaimSettingsInput extends inputFields(claimSettings) {}

@InputType({ description: 'Absent fields are unchanged.' })
export class UpdateClaimSettingsInput extends inputFields({
  ...claimSettings,
  clientId: id(),
  expectedVersion: nullable(int()),
}) {}
