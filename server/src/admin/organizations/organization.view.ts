import { ObjectType } from 'type-graphql';
import { organizationFields } from '../../domain/organizations/organization.resource.ts';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { fields, id, jsonObject, text, time } from '../api/fields.ts';
import { viewOf } from '../api/resource-types.ts';

@Access('project_viewer', ofProject, 'users:read')
@ObjectType('Organization', { description: 'A customer of the project, with its own members.' })
export class OrganizationView extends fields({
  id: id(),
  ...viewOf(organizationFields),
  metadata: jsonObject("Data of the project's own back end."),
  createdAt: time(),
  updatedAt: time(),
}) {}

export const OrganizationConnection = connectionType(OrganizationView, 'Organization');

@Access('project_viewer', ofProject, 'users:read')
@ObjectType('OrganizationRole', { description: 'A role of members, the same for all organizations of a project.' })
export class OrganizationRoleView extends fields({
  id: id(),
  key: text('The value in `org_roles`.'),
  name: text(),
  createdAt: time(),
}) {}
