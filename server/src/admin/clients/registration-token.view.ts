import { InputType, ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { fields, id, inputFields, int, nullable, object, text, time } from '../api/fields.ts';

@Access('project_viewer', ofProject, 'clients:read')
@ObjectType('RegistrationToken', {
  description: 'An initial access token, with which clients register themselves (RFC 7591). It is shown only once.',
})
export class RegistrationTokenView extends fields({
  id: id(),
  name: text(),
  hint: text('The last four characters.'),
  createdAt: time(),
  expiresAt: time(),
  lastUsedAt: nullable(time()),
  revokedAt: nullable(time()),
}) {}

@Access('inherited')
@ObjectType({ description: 'A new initial access token, shown only once.' })
export class IssuedRegistrationToken extends fields({
  registrationToken: object(RegistrationTokenView),
  token: text('`lk_ia_…`.'),
}) {}

@InputType()
export class IssueRegistrationTokenInput extends inputFields({
  projectId: id(),
  name: text(),
  days: nullable(int('Lifetime: 1 to 365 days. Default: 30.')),
}) {}
