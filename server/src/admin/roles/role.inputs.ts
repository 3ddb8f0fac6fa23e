import { InputType } from 'type-graphql';
import { id, inputFields, nullable, text } from '../api/fields.ts';

@InputType()
export class CreateRoleInput extends inputFields({
  clientId: id(),
  key: text('The value that the application receives; letters, digits and _ . : / @ -. It cannot be changed.'),
  name: text(),
  description: nullable(text()),
}) {}

@InputType({ description: 'Absent fields are unchanged; null clears `description`.' })
export class UpdateRoleInput extends inputFields({
  id: id(),
  name: nullable(text()),
  description: nullable(text()),
}) {}

@InputType({ description: 'Exactly one of `userId` and `groupId`, in the project of the role.' })
class RoleHolderInput extends inputFields({
  roleId: id(),
  userId: nullable(id()),
  groupId: nullable(id()),
}) {}

@InputType({ description: 'Exactly one of `userId` and `groupId`, in the project of the role.' })
export class AssignRoleInput extends RoleHolderInput {}

@InputType({ description: 'Exactly one of `userId` and `groupId`, in the project of the role.' })
export class UnassignRoleInput extends RoleHolderInput {}
