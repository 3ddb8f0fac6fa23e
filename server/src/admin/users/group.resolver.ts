import { Arg, Ctx, FieldResolver, ID, Int, Query, Resolver, Root } from 'type-graphql';
import { found, refuse } from '../../domain/kernel/problem.ts';
import { isUuid } from '../../domain/kernel/secret.ts';
import { Group } from '../../domain/users/group.entity.ts';
import { countGroups, listGroups } from '../../domain/users/group-list.ts';
import { Requires } from '../api/access.ts';
import { placedConnection, placedRequest } from '../api/connection.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import { ProjectView } from '../projects/project.view.ts';
import { GroupConnection, GroupView } from './group.view.ts';

@Resolver(() => GroupView)
export class GroupResolver {
  @Requires('project_viewer', { about: { group: 'id' }, scope: 'users:read' })
  @Query(() => GroupView, { nullable: true })
  async group(@Arg('id', () => ID) id: string, @Ctx() { em, projectId }: ProjectContext) {
    return found(await em.findOne(Group, { project: projectId, id }), 'group');
  }

  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'users:read' })
  @Query(() => GroupConnection, {
    description: 'The groups of a project, or of one of its users, by name.',
  })
  async groups(
    @Arg('projectId', () => ID) projectId: string,
    @Ctx() { em }: AdminContext,
    @Arg('search', () => String, { nullable: true, description: 'Part of the name, case-insensitive.' })
    search?: string | null,
    @Arg('userId', () => ID, { nullable: true, description: 'Groups with this member.' })
    userId?: string | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    if (userId != null && !isUuid(userId)) {
      refuse({ code: 'invalid', field: 'userId', reason: 'must be the id of a user' });
    }
    const wanted = { search: search ?? undefined, userId: userId ?? undefined };
    const request = placedRequest('groups', { first, after });
    const page = await listGroups(em, projectId, wanted, request);
    return placedConnection('groups', page, request, () => countGroups(em, projectId, wanted));
  }

  @FieldResolver(() => Int)
  async memberCount(@Root() group: Group, @Ctx() { loaders }: AdminContext) {
    return (await loaders.membersIn(group)) ?? 0;
  }

  @FieldResolver(() => ProjectView)
  project(@Root() group: Group, @Ctx() { loaders }: AdminContext) {
    return loaders.project(group.project.id);
  }
}
