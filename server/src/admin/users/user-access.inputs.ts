import { InputType } from 'type-graphql';
import { UserActionEnum } from '../api/enums.ts';
import { id, inputFields, list, oneOf } from '../api/fields.ts';

@InputType()
export class ChangeUsersInput extends inputFields({
  projectId: id(),
  userIds: list(id('At most 100.')),
  action: oneOf(UserActionEnum),
}) {}
