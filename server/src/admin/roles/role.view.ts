import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import type { ClientRole } from '../../domain/roles/client-role.entity.ts';
import type { Group } from '../../domain/users/group.entity.ts';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { GroupView } from '../users/group.view.ts';

@Access('project_viewer', ofProject, 'clients:read', 'users:read')
@ObjectType('ClientRole', { description: 'A role of one application.' })
export class RoleView {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { description: 'The value that the application receives.' })
  key!: string;

  @Field(() => String)
  name!: string;

  @Field(() => String, { nullable: true })
  description!: string | null;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime)
  updatedAt!: Date;
}

@Access('project_viewer', ofProject, 'users:read')
@ObjectType('RoleAssignment', { description: 'A role of one user, or of the members of one group.' })
export class RoleAssignmentView {
  @Field(() => ID)
  id!: string;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;
}

export const RoleAssignmentConnection = connectionType(RoleAssignmentView, 'RoleAssignment', false);

@Access('inherited')
@ObjectType('UserRole', { description: 'A role that a user holds, and why.' })
export class UserRoleView {
  @Field(() => RoleView)
  role!: ClientRole;

  @Field(() => Boolean, { description: 'Whether the role is assigned to the user.' })
  direct!: boolean;

  @Field(() => Boolean, { description: 'Whether the directory gives the role, in `roles` or `entitlements`.' })
  directory!: boolean;

  @Field(() => [GroupView], { description: 'Groups of the user with this role.' })
  groups!: Group[];
}
