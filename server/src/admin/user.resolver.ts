import 'reflect-metadata';
import { GraphQLDateTime } from 'graphql-scalars';
import { Arg, Ctx, Field, FieldResolver, ID, InputType, Int, ObjectType, Query, Resolver, Root } from 'type-graphql';
import { found, refuse } from '../domain/kernel/problem.ts';
import { isUuid } from '../domain/kernel/secret.ts';
import { User } from '../domain/users/user.entity.ts';
import { countUsers, listUsers, newestFirst, type UserFilter, type UserOrder } from '../domain/users/user-list.ts';
import { connectionType, placedConnection, placedRequest } from './connection.ts';
import { type AdminContext, given } from './context.ts';
import { DirectionEnum, ProvenanceEnum, UserOrderEnum } from './enums.ts';
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

@InputType('UserFilter', { description: 'What is absent is not asked.' })
export class UserFilterInput {
  @Field(() => Boolean, { nullable: true })
  active?: boolean | null;

  @Field(() => ProvenanceEnum, { nullable: true })
  provenance?: User['provenance'] | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether they have set up a second factor.' })
  hasFactor?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether they have signed in at all.' })
  hasSignedIn?: boolean | null;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'Last signed in at this moment or later.' })
  signedInSince?: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'Have signed in, but not since this moment.' })
  notSignedInSince?: Date | null;

  @Field(() => ID, { nullable: true, description: 'Members of this group.' })
  groupId?: string | null;
}

/** What is asked of the users of a project. Refuses `invalid` for what is no id. */
export function userFilterOf(
  search: string | null | undefined,
  filter: UserFilterInput | null | undefined,
): UserFilter {
  const wanted = given({ ...filter });
  if (wanted.groupId !== undefined && !isUuid(wanted.groupId)) {
    refuse({ code: 'invalid', field: 'filter.groupId', reason: 'must be the id of a group' });
  }
  return { ...wanted, ...(search ? { search } : {}) };
}

@Resolver(() => UserView)
export class UserResolver {
  @Query(() => UserView, { nullable: true })
  async user(@Arg('id', () => ID) id: string, @Ctx() { em }: AdminContext) {
    return found(isUuid(id) ? await em.findOne(User, id) : null, 'user');
  }

  @Query(() => UserConnection, {
    description: 'The users of a project, newest first unless another order is asked for.',
  })
  async users(
    @Arg('projectId', () => ID) projectId: string,
    @Ctx() { em }: AdminContext,
    @Arg('search', () => String, {
      nullable: true,
      description:
        'The beginning of a userName, e-mail address, displayName or family name, in any case, or of an externalId.',
    })
    search?: string | null,
    @Arg('filter', () => UserFilterInput, { nullable: true }) filter?: UserFilterInput | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
    @Arg('orderBy', () => UserOrderEnum, { nullable: true, description: 'CREATED where absent.' })
    orderBy?: UserOrder['by'] | null,
    @Arg('direction', () => DirectionEnum, {
      nullable: true,
      description: 'Where absent: DESC by a moment, ASC by a name. Those without a value come last either way.',
    })
    direction?: 'asc' | 'desc' | null,
  ) {
    const order = orderOf(orderBy, direction);
    const wanted = userFilterOf(search, filter);
    const list = `users ${order.by} ${order.descending ? 'desc' : 'asc'}`;
    const request = placedRequest(list, { first, after });
    const page = await listUsers(em, projectId, wanted, { ...request, order });
    return placedConnection(list, page, request, () => countUsers(em, projectId, wanted));
  }

  @FieldResolver(() => ProjectView)
  project(@Root() user: User, @Ctx() { loaders }: AdminContext) {
    return loaders.project(user.project.id);
  }
}

function orderOf(by: UserOrder['by'] | null | undefined, direction: 'asc' | 'desc' | null | undefined): UserOrder {
  const order = by ?? newestFirst.by;
  const isMoment = order === 'created' || order === 'last-sign-in';
  return { by: order, descending: direction == null ? isMoment : direction === 'desc' };
}
