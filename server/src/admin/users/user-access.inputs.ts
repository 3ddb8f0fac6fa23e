import { Field, ID, InputType } from 'type-graphql';
import { UserActionEnum } from '../api/enums.ts';
import type { UserAction } from './user-action.ts';

@InputType()
export class ChangeUsersInput {
  @Field(() => ID)
  projectId!: string;

  @Field(() => [ID], { description: 'At most 100.' })
  userIds!: string[];

  @Field(() => UserActionEnum)
  action!: UserAction;
}
