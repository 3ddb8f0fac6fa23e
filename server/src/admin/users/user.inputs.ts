import { InputType } from 'type-graphql';
import { ProvenanceEnum } from '../api/enums.ts';
import { boolean, id, inputFields, nullable, oneOf, time } from '../api/fields.ts';

@InputType('UserFilter', { description: 'Absent fields do not filter.' })
export class UserFilterInput extends inputFields({
  active: nullable(boolean()),
  provenance: nullable(oneOf(ProvenanceEnum)),
  hasFactor: nullable(boolean('Whether the user has a second factor.')),
  hasSignedIn: nullable(boolean('Whether the user has ever signed in.')),
  isInvited: nullable(boolean('Whether the user was invited and has not signed in.')),
  signedInSince: nullable(time('Last signed in at or after this time.')),
  notSignedInSince: nullable(time('Has signed in, but not since this time.')),
  groupId: nullable(id('Members of this group.')),
  organizationId: nullable(id('Members of this organization, suspended or not.')),
  homeId: nullable(id('Users at home in this organization.')),
}) {}
