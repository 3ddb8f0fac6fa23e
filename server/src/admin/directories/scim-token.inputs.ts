import { InputType } from 'type-graphql';
import { id, inputFields, list, nullable, text, time } from '../api/fields.ts';

@InputType()
export class IssueScimTokenInput extends inputFields({
  projectId: nullable(id("For the project's own directory.")),
  organizationId: nullable(id('For the directory of this organization, instead of `projectId`.')),
  name: text(),
  expiresAt: nullable(time('Absent: never.')),
  networks: nullable(
    list(
      text('Networks that may use it: addresses, or ranges such as `192.0.2.0/24`; at most 20. Absent or empty: all.'),
    ),
  ),
}) {}
