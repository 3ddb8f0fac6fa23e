import type { EntityManager } from '@mikro-orm/postgresql';
import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { found, refuse } from '../../domain/kernel/problem.ts';
import { isUuid } from '../../domain/kernel/secret.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { Group } from '../../domain/users/group.entity.ts';
import { countGroups, listGroups } from '../../domain/users/group-list.ts';
import { Requires } from '../api/access.ts';
import { exactOption, placedConnection, placedRequest } from '../api/connection.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import { ProvenanceEnum } from '../api/enums.ts';
import { ProjectView } from '../projects/project.view.ts';
import { AddGroupMembersInput, CreateGroupInput, RemoveGroupMembersInput, UpdateGroupInput } from './group.inputs.ts';
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
    @Arg('search', () => String, { nullable: true, description: 'Part of the name, ignoring case and accents.' })
    search?: string | null,
    @Arg('userId', () => ID, { nullable: true, description: 'Groups with this member.' })
    userId?: string | null,
    @Arg('provenance', () => ProvenanceEnum, { nullable: true }) provenance?: Group['provenance'] | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    if (userId != null && !isUuid(userId)) {
      refuse({ code: 'invalid', field: 'userId', reason: 'must be the id of a user' });
    }
    const wanted = {
      search: search ?? undefined,
      userId: userId ?? undefined,
      provenance: provenance ?? undefined,
    };
    const request = placedRequest('groups', { first, after });
    const page = await listGroups(em, projectId, wanted, request);
    return placedConnection('groups', page, request, () => countGroups(em, projectId, wanted));
  }

  @Requires('project_admin', { about: { project: 'projectId' }, scope: 'users:write' })
  @Mutation(() => GroupView, { description: 'A group that no directory owns, without members.' })
  async createGroup(
    @Arg('input', () => CreateGroupInput) { projectId, displayName }: CreateGroupInput,
    @Ctx() { actor, domain, em }: AdminContext,
  ) {
    return shown(em, projectId, await domain.localGroups.create(projectId, displayName, actor));
  }

  // Applications may grant rights by the name of a group.
  @Requires('project_admin', { about: { group: 'id' }, fresh: true, scope: 'users:write' })
  @Mutation(() => GroupView, { description: 'Refuses groups of directories, as the other changes of groups do.' })
  async updateGroup(
    @Arg('input', () => UpdateGroupInput) { id, displayName }: UpdateGroupInput,
    @Ctx() { actor, domain, em, projectId }: ProjectContext,
  ) {
    return shown(em, projectId, await domain.localGroups.rename(keyIn(projectId, id), displayName, actor));
  }

  @Requires('project_admin', { about: { group: 'id' }, fresh: true, scope: 'users:write' })
  @Mutation(() => ID, { description: 'The members stay users, and lose the roles of the group. Returns its id.' })
  async deleteGroup(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, projectId }: ProjectContext) {
    await domain.localGroups.delete(keyIn(projectId, id), actor);
    return id;
  }

  // Fresh, like `assignRole`: members get the roles of the group.
  @Requires('project_admin', { about: { group: 'groupId' }, fresh: true, scope: 'users:write' })
  @Mutation(() => GroupView, { description: 'Repeating it changes nothing.' })
  async addGroupMembers(
    @Arg('input', () => AddGroupMembersInput) { groupId, userIds }: AddGroupMembersInput,
    @Ctx() { actor, domain, em, projectId }: ProjectContext,
  ) {
    return shown(em, projectId, await domain.localGroups.add(keyIn(projectId, groupId), userIds, actor));
  }

  @Requires('project_admin', { about: { group: 'groupId' }, scope: 'users:write' })
  @Mutation(() => GroupView, { description: 'Repeating it changes nothing.' })
  async removeGroupMembers(
    @Arg('input', () => RemoveGroupMembersInput) { groupId, userIds }: RemoveGroupMembersInput,
    @Ctx() { actor, domain, em, projectId }: ProjectContext,
  ) {
    return shown(em, projectId, await domain.localGroups.remove(keyIn(projectId, groupId), userIds, actor));
  }

  @FieldResolver(() => Int)
  async memberCount(
    @Root() group: Group,
    @Ctx() { loaders }: AdminContext,
    @Arg('exact', () => Boolean, exactOption) exact?: boolean | null,
  ) {
    return (await (exact ? loaders.allMembersIn(group) : loaders.membersIn(group)))?.count ?? 0;
  }

  @FieldResolver(() => Boolean, { description: 'Whether there are more than `memberCount` without `exact`.' })
  async isMemberCountLimited(@Root() group: Group, @Ctx() { loaders }: AdminContext) {
    return (await loaders.membersIn(group))?.isLimited ?? false;
  }

  @FieldResolver(() => ProjectView)
  async project(@Root() group: Group, @Ctx() { loaders }: AdminContext) {
    return found(await loaders.project(group.project.id), 'project');
  }
}

async function shown(em: EntityManager, projectId: string, { id }: { id: string }): Promise<Group> {
  return found(await em.findOne(Group, { project: projectId, id }, { refresh: true }), 'group');
}
