import { Field, ID, InputType } from 'type-graphql';

@InputType()
export class CreateRoleInput {
  @Field(() => ID)
  clientId!: string;

  @Field(() => String, {
    description: 'The value that the application receives; letters, digits and _ . : / @ -. It cannot be changed.',
  })
  key!: string;

  @Field(() => String)
  name!: string;

  @Field(() => String, { nullable: true })
  description?: string | null;
}

@InputType({ description: 'Absent fields are unchanged; null clears `description`.' })
export class UpdateRoleInput {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => String, { nullable: true })
  description?: string | null;
}

@InputType({ description: 'Exactly one of `userId` and `groupId`, of the project of the role.' })
class RoleHolderInput {
  @Field(() => ID)
  roleId!: string;

  @Field(() => ID, { nullable: true })
  userId?: string | null;

  @Field(() => ID, { nullable: true })
  groupId?: string | null;
}

@InputType({ description: 'Exactly one of `userId` and `groupId`, of the project of the role.' })
export class AssignRoleInput extends RoleHolderInput {}

@InputType({ description: 'Exactly one of `userId` and `groupId`, of the project of the role.' })
export class UnassignRoleInput extends RoleHolderInput {}
