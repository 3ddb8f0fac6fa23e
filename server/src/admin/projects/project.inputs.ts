import { InputType } from 'type-graphql';
import { projectFields, sessionPolicyFields } from '../../domain/projects/project.resource.ts';
import { id, inputFields, int, nullable, text } from '../api/fields.ts';
import { changeOf, creationOf } from '../api/resource-types.ts';

@InputType()
export class CreateProjectInput extends inputFields({
  ...creationOf(projectFields),
  slug: nullable(text('1 to 40 of a-z, 0-9 and hyphens. Default: made from the name. Never changes.')),
}) {}

@InputType({ description: 'Absent fields are unchanged.' })
export class UpdateProjectInput extends inputFields({
  ...changeOf(projectFields),
  id: id(),
  expectedVersion: nullable(int()),
}) {}

@InputType({ description: 'In seconds; absent fields are unchanged.' })
export class UpdateSessionPolicyInput extends inputFields({
  projectId: id(),
  ...changeOf(sessionPolicyFields),
  expectedVersion: nullable(int()),
}) {}

@InputType()
export class DeleteProjectInput extends inputFields({
  id: id(),
  confirmName: text('The name of the project, as confirmation.'),
}) {}
