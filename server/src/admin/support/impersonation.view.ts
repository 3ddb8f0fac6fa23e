import { InputType, ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { fields, id, inputFields, nullable, text, time } from '../api/fields.ts';

@InputType()
export class BeginImpersonationInput extends inputFields({
  userId: id(),
  clientId: id('A first-party application with a start address.'),
  organizationId: nullable(id('For requests that name no organization.')),
  reason: text('For the event and the mail to the user. At most 500 characters.'),
}) {}

@Access('inherited')
@ObjectType({ description: 'An impersonation that has begun.' })
export class BegunImpersonationView extends fields({
  id: id(),
  url: text('Opens the application as the user. Single use, for one minute.'),
  expiresAt: time('15 minutes after the beginning.'),
}) {}

@Access('project_viewer', ofProject, 'users:read')
@ObjectType('Impersonation', { description: 'A running impersonation: an admin who uses an application as a user.' })
export class ImpersonationView extends fields({
  id: id('`sid` in its ID tokens.'),
  reason: text(),
  createdAt: time(),
  expiresAt: time(),
}) {}
