import { InputType, ObjectType } from 'type-graphql';
import { portalTasks } from '../../domain/portal/portal-link.entity.ts';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { fields, id, inputFields, list, nullable, object, oneOf, text, time } from '../api/fields.ts';
import { enumOf } from '../api/resource-types.ts';

const TaskEnum = enumOf({
  name: 'PortalTask',
  says: 'What a portal link allows: DOMAINS adds mail domains and proves them, CONNECTION connects an identity provider, DIRECTORY issues a token for SCIM.',
  values: portalTasks,
});

@Access('project_viewer', ofProject, 'users:read')
@ObjectType('PortalLink', { description: 'The access of an IT contact to the set-up portal of an organization.' })
export class PortalLinkView extends fields({
  id: id(),
  email: text('New links go to it.'),
  can: list(oneOf(TaskEnum)),
  returnUrl: nullable(text()),
  createdAt: time(),
  usedAt: nullable(time('Time at which the last link was opened; null: it has not been.')),
  expiresAt: time(),
  completedAt: nullable(time('Time at which the contact completed the set-up.')),
  revokedAt: nullable(time()),
}) {}

export const PortalLinkConnection = connectionType(PortalLinkView, 'PortalLink', false);

@Access('inherited')
@ObjectType({ description: 'A new portal link, and its URL, which is not shown again.' })
export class CreatedPortalLink extends fields({ url: text(), portalLink: object(PortalLinkView) }) {}

@InputType()
export class CreatePortalLinkInput extends inputFields({
  organizationId: id(),
  can: list(oneOf(TaskEnum, 'What the link allows.')),
  email: text('Of the IT contact. The portal sends new links to it; the first one is sent by the caller.'),
  expiresAt: nullable(time('Within the next 30 days. Default: in 7 days.')),
  returnUrl: nullable(
    text(
      'A page that the portal leads back to. Its origin must be that of a redirect URI of an application of the project.',
    ),
  ),
}) {}
