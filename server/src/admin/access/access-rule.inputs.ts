import { InputType } from 'type-graphql';
import { id, inputFields, nullable, text } from '../api/fields.ts';

@InputType({
  description: 'Exactly one of `userId`, `groupId`, `roleKey` and `organizationId`, in the project of the application.',
})
export class GrantAccessInput extends inputFields({
  clientId: id(),
  userId: nullable(id()),
  groupId: nullable(id()),
  roleKey: nullable(text('`key` of a role of the application.')),
  organizationId: nullable(id('Its members, when they sign in to it.')),
}) {}
