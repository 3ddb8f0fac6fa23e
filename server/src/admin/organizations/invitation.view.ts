import { ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { fields, id, nullable, text, time } from '../api/fields.ts';

@Access('project_viewer', ofProject, 'users:read')
@ObjectType('OrganizationInvitation', { description: 'An invitation of a mail address to an organization.' })
export class OrganizationInvitationView extends fields({
  id: id(),
  email: text(),
  createdAt: time(),
  sentAt: time('Time of the last mail.'),
  expiresAt: time(),
  acceptedAt: nullable(time()),
  revokedAt: nullable(time()),
}) {}

export const OrganizationInvitationConnection = connectionType(
  OrganizationInvitationView,
  'OrganizationInvitation',
  false,
);
