import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, InputType } from 'type-graphql';
import type { Role } from '../../domain/admins/membership.entity.ts';
import { RoleEnum } from '../api/enums.ts';

@InputType()
export class GrantRoleInput {
  @Field(() => String, { description: 'The address used to sign in to the console.' })
  email!: string;

  @Field(() => RoleEnum)
  role!: Role;

  @Field(() => ID, { nullable: true, description: 'Required for every role but OWNER.' })
  projectId?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Sends a mail with the role and the address of the console. Default: false.',
  })
  invite?: boolean | null;
}

@InputType()
export class IssueAdminTokenInput {
  @Field(() => String)
  name!: string;

  @Field(() => RoleEnum)
  role!: Role;

  @Field(() => ID, { nullable: true, description: 'Required for every role but OWNER.' })
  projectId?: string | null;

  @Field(() => GraphQLDateTime, {
    nullable: true,
    description:
      'Absent: never. If the caller is a token that expires: not after its expiry, which is also the default.',
  })
  expiresAt?: Date | null;
}
