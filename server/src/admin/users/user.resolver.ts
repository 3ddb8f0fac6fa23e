import { Arg, Ctx, FieldResolver, ID, Int, Query, Resolver, Root } from 'type-graphql';
import { found } from '../../domain/kernel/problem.ts';
import { User } from '../../domain/users/user.entity.ts';
import { countUsers, listUsers, newestFirst, type UserOrder } from '../../domain/users/user-list.ts';
import { Requires } from '../api/access.ts';
import { exactOption, placedConnection, placedRequest } from '../api/connection.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import { DirectionEnum, UserOrderEnum } from '../api/enums.ts';
import { ProjectView } from '../projects/project.view.ts';
import { UserFilterInput } from './user.inputs.ts';
import { UserConnection, UserView } from './user.view.ts';
import { userFilterOf } from './user-filter.ts';

@Resolver(() => UserView)
export class UserResolver {
  @Requires('project_viewer', { about: { user: 'id' }, scope: 'users:read' })
  @Query(() => UserView, { nullable: true })
  async user(@Arg('id', () => ID) id: string, @Ctx() { em, projectId }: ProjectContext) {
    return found(await em.findOne(User, { project: projectId, id }), 'user');
  }

  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'users:read' })
  @Query(() => UserConnection, {
    description: 'The users of a project, by default newest first.',
  })
  async users(
    @Arg('projectId', () => ID) projectId: string,
    @Ctx() { em }: AdminContext,
    @Arg('search', () => String, {
      nullable: true,
      description:
        'Words in the userName, email address, names or externalId, ignoring case and accents. All must be found, in any order; those of one or two ASCII characters where a word begins. At most 1,000 users are found.',
    })
    search?: string | null,
    @Arg('filter', () => UserFilterInput, { nullable: true }) filter?: UserFilterInput | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
    @Arg('orderBy', () => UserOrderEnum, { nullable: true, description: 'Default: CREATED.' })
    orderBy?: UserOrder['by'] | null,
    @Arg('direction', () => DirectionEnum, {
      nullable: true,
      description: 'Default: DESC for times, ASC for names. Users without a value are last in both.',
    })
    direction?: 'asc' | 'desc' | null,
    @Arg('exact', () => Boolean, exactOption) exact?: boolean | null,
  ) {
    const order = orderOf(orderBy, direction);
    const wanted = userFilterOf(search, filter);
    const list = `users ${order.by} ${order.descending ? 'desc' : 'asc'}`;
    const request = placedRequest(list, { first, after });
    const page = await listUsers(em, projectId, wanted, { ...request, order });
    const { matches } = page;
    const counted = async () => matches ?? countUsers(em, projectId, wanted, exact ?? false);
    return Object.assign(placedConnection(list, page, request, counted), { isLimited: matches?.isLimited ?? false });
  }

  @FieldResolver(() => ProjectView)
  async project(@Root() user: User, @Ctx() { loaders }: AdminContext) {
    return found(await loaders.project(user.project.id), 'project');
  }
}

function orderOf(by: UserOrder['by'] | null | undefined, direction: 'asc' | 'desc' | null | undefined): UserOrder {
  const order = by ?? newestFirst.by;
  const isMoment = order === 'created' || order === 'last-sign-in';
  return { by: order, descending: direction == null ? isMoment : direction === 'desc' };
}
