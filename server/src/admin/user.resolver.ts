import 'reflect-metadata';
import { GraphQLDateTime } from 'graphql-scalars';
import { Arg, Ctx, Field, FieldResolver, ID, InputType, Int, ObjectType, Query, Resolver, Root } from 'type-graphql';
import { found } from '../domain/kernel/problem.ts';
import { isUuid } from '../domain/kernel/secret.ts';
import { User } from '../domain/users/user.entity.ts';
import { countUsers, listUsers } from '../domain/users/user-list.ts';
import { connection, connectionType, pageRequest } from './connection.ts';
import { type AdminContext, given } from './context.ts';
import { ProvenanceEnum } from './enums.ts';
import { ProjectView } from './project.view.ts';

@ObjectType('User', { description: 'An end user of one project.' })
export class UserView {
  @Field(() => ID, { description: '`sub` in tokens, `id` in SCIM.' })
  id!: string;

  @Field(() => String)
  userName!: string;

  @Field(() => String, { nullable: true })
  externalId!: string | null;

  @Field(() => String, { nullable: true })
  displayName!: string | null;

  @Field(() => String, { nullable: true })
  givenName!: string | null;

  @Field(() => String, { nullable: true })
  familyName!: string | null;

  @Field(() => String, { nullable: true, description: 'The address that codes go to.' })
  email!: string | null;

  @Field(() => String, { nullable: true, description: 'E.164.' })
  phone!: string | null;

  @Field(() => Boolean)
  active!: boolean;

  @Field(() => ProvenanceEnum)
  provenance!: User['provenance'];

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime)
  updatedAt!: Date;

  @Field(() => GraphQLDateTime, { nullable: true })
  lastSignInAt!: Date | null;
}

const UserConnection = connectionType(UserView, 'User');

@InputType({ description: 'What is absent is not asked.' })
export class UserFilter {
  @Field(() => Boolean, { nullable: true })
  active?: boolean | null;

  @Field(() => ProvenanceEnum, { nullable: true })
  provenance?: User['provenance'] | null;
}

@Resolver(() => UserView)
export class UserResolver {
  @Query(() => UserView, { nullable: true })
  async user(@Arg('id', () => ID) id: string, @Ctx() { em }: AdminContext) {
    return found(isUuid(id) ? await em.findOne(User, id) : null, 'user');
  }

  @Query(() => UserConnection, { description: 'The users of a project, newest first.' })
  async users(
    @Arg('projectId', () => ID) projectId: string,
    @Ctx() { em }: AdminContext,
    @Arg('search', () => String, {
      nullable: true,
      description: 'The beginning of a userName, e-mail address or displayName, in any case, or of an externalId.',
    })
    search?: string | null,
    @Arg('filter', () => UserFilter, { nullable: true }) filter?: UserFilter | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const wanted = { ...given(filter ?? {}), ...(search ? { search } : {}) };
    const request = pageRequest('users', { first, after });
    const page = await listUsers(em, projectId, wanted, request);
    return connection('users', page, request, () => countUsers(em, projectId, wanted));
  }

  @FieldResolver(() => ProjectView)
  project(@Root() user: User, @Ctx() { loaders }: AdminContext) {
    return loaders.project(user.project.id);
  }
}
