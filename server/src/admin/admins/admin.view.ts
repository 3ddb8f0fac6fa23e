import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import type { AdminToken } from '../../domain/admins/admin-token.entity.ts';
import type { Role } from '../../domain/admins/membership.entity.ts';
import { Access, ofProjectOrInstance } from '../api/access.ts';
import { CallerKindEnum, RoleEnum } from '../api/enums.ts';

@Access('inherited')
@ObjectType({ description: 'A role and its project; an owner has no project.' })
export class Grant {
  @Field(() => RoleEnum)
  role!: Role;

  @Field(() => ID, { nullable: true })
  projectId!: string | null;
}

@Access('inherited')
@ObjectType({ description: 'The caller.' })
export class Me {
  @Field(() => CallerKindEnum)
  kind!: string;

  @Field(() => ID, { nullable: true })
  id!: string | null;

  @Field(() => String)
  name!: string;

  @Field(() => [Grant])
  grants!: Grant[];

  @Field(() => [String], {
    nullable: true,
    description: 'Of an application: the rights of its token, within its role.',
  })
  scopes!: string[] | null;

  @Field(() => GraphQLDateTime, {
    nullable: true,
    description: 'When the last mail code or factor becomes too old for sensitive changes; absent for tokens.',
  })
  freshUntil!: Date | null;
}

@Access('inherited')
@ObjectType({ description: 'A user of the console.' })
export class Admin {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { nullable: true, description: 'For owners only.' })
  name!: string | null;

  @Field(() => String, { description: 'The address used to sign in.' })
  email!: string;

  @Field(() => Boolean, { nullable: true, description: 'For owners only.' })
  active!: boolean | null;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'For owners only.' })
  lastSignInAt!: Date | null;
}

@Access('project_viewer', ofProjectOrInstance)
@ObjectType('Membership', { description: 'A role of an admin.' })
export class MembershipView {
  @Field(() => ID)
  id!: string;

  @Field(() => RoleEnum)
  role!: Role;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;
}

@Access('project_admin', ofProjectOrInstance)
@ObjectType('AdminToken', {
  description: 'A bearer token for this API. The token is shown only once, when it is created.',
})
export class AdminTokenView {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => String, { description: 'The last four characters.' })
  hint!: string;

  @Field(() => RoleEnum)
  role!: Role;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime, { nullable: true })
  expiresAt!: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'With a resolution of one minute.' })
  lastUsedAt!: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  revokedAt!: Date | null;
}

@Access('inherited')
@ObjectType({ description: 'A new admin API token, shown only once.' })
export class IssuedAdminToken {
  @Field(() => String, { description: '`lk_admin_…`' })
  token!: string;

  @Field(() => AdminTokenView)
  adminToken!: AdminToken;
}
