import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Client } from '../../domain/clients/client.entity.ts';
import { found } from '../../domain/kernel/problem.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { ClientRole } from '../../domain/roles/client-role.entity.ts';
import type { RoleAssignment } from '../../domain/roles/role-assignment.entity.ts';
import { assignmentsOf, rolesOf, rolesOfGroup, rolesOfUser } from '../../domain/roles/role-lists.ts';
import { Group } from '../../domain/users/group.entity.ts';
import { User } from '../../domain/users/user.entity.ts';
import { Requires } from '../api/access.ts';
import { connection, pageRequest } from '../api/connection.ts';
import { type AdminContext, type ProjectContext, withoutNulls } from '../api/context.ts';
import { ClientView } from '../clients/client.view.ts';
import { GroupView } from '../users/group.view.ts';
import { UserView } from '../users/user.view.ts';
import { AssignRoleInput, CreateRoleInput, UnassignRoleInput, UpdateRoleInput } from './role.inputs.ts';
import { RoleAssignmentConnection, RoleAssignmentView, RoleView, UserRoleView } from './role.view.ts';

@Resolver(() => RoleView)
export class RoleResolver {
  @Requires('project_viewer', { about: { role: 'id' }, scope: 'clients:read' })
  @Query(() => RoleView, { nullable: true })
  async role(@Arg('id', () => ID) id: string, @Ctx() { em, projectId }: ProjectContext) {
    return found(await em.findOne(ClientRole, { project: projectId, id }), 'role');
  }

  @Requires('project_viewer', { about: { client: 'clientId' }, scope: 'clients:read' })
  @Query(() => [RoleView], { description: 'The roles of an application, by name; at most 200.' })
  async roles(@Arg('clientId', () => ID) clientId: string, @Ctx() { em, projectId }: ProjectContext) {
    found(await em.findOne(Client, { project: projectId, id: clientId }), 'client');
    return rolesOf(em, keyIn(projectId, clientId));
  }

  @Requires('project_viewer', { about: { role: 'roleId' }, scope: 'users:read' })
  @Query(() => RoleAssignmentConnection, { description: 'The users and groups with a role, newest first.' })
  async roleAssignments(
    @Arg('roleId', () => ID) roleId: string,
    @Ctx() { em, projectId }: ProjectContext,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const request = pageRequest('role-assignments', { first, after });
    const page = await assignmentsOf(em, keyIn(projectId, roleId), request);
    return connection('role-assignments', page, request);
  }

  @Requires('project_viewer', { about: { user: 'userId' }, scope: 'users:read' })
  @Query(() => [UserRoleView], { description: 'The roles of a user in all applications, direct and by groups.' })
  async userRoles(@Arg('userId', () => ID) userId: string, @Ctx() { em, projectId }: ProjectContext) {
    found(await em.findOne(User, { project: projectId, id: userId }), 'user');
    return rolesOfUser(em, keyIn(projectId, userId));
  }

  @Requires('project_viewer', { about: { group: 'groupId' }, scope: 'users:read' })
  @Query(() => [RoleView], { description: 'The roles assigned to a group.' })
  async groupRoles(@Arg('groupId', () => ID) groupId: string, @Ctx() { em, projectId }: ProjectContext) {
    found(await em.findOne(Group, { project: projectId, id: groupId }), 'group');
    return rolesOfGroup(em, keyIn(projectId, groupId));
  }

  @Requires('project_admin', { about: { client: 'clientId' }, scope: 'clients:write' })
  @Mutation(() => RoleView)
  createRole(@Arg('input', () => CreateRoleInput) input: CreateRoleInput, @Ctx() ctx: ProjectContext) {
    const { clientId, key, name, description } = input;
    const values = { key, name, description: description ?? null };
    return ctx.domain.roles.create(keyIn(ctx.projectId, clientId), values, ctx.actor);
  }

  @Requires('project_admin', { about: { role: 'id' }, scope: 'clients:write' })
  @Mutation(() => RoleView)
  updateRole(@Arg('input', () => UpdateRoleInput) input: UpdateRoleInput, @Ctx() ctx: ProjectContext) {
    const { id, name, description } = input;
    const change = { ...withoutNulls({ name }), ...(description === undefined ? {} : { description }) };
    return ctx.domain.roles.update(keyIn(ctx.projectId, id), change, ctx.actor);
  }

  @Requires('project_admin', { about: { role: 'id' }, fresh: true, scope: 'clients:write' })
  @Mutation(() => ID, { description: 'Also removes it from all users and groups. Returns its id.' })
  async deleteRole(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, projectId }: ProjectContext) {
    await domain.roles.delete(keyIn(projectId, id), actor);
    return id;
  }

  @Requires('project_admin', { about: { role: 'roleId' }, fresh: true, scope: 'users:write' })
  @Mutation(() => RoleAssignmentView, { description: 'Applies to the next token. Repeating it changes nothing.' })
  assignRole(@Arg('input', () => AssignRoleInput) { roleId, ...holder }: AssignRoleInput, @Ctx() ctx: ProjectContext) {
    return ctx.domain.roles.assign(keyIn(ctx.projectId, roleId), withoutNulls(holder), ctx.actor);
  }

  @Requires('project_admin', { about: { role: 'roleId' }, scope: 'users:write' })
  @Mutation(() => RoleView, { description: 'Applies to the next token. Repeating it changes nothing.' })
  unassignRole(
    @Arg('input', () => UnassignRoleInput) { roleId, ...holder }: UnassignRoleInput,
    @Ctx() ctx: ProjectContext,
  ) {
    return ctx.domain.roles.unassign(keyIn(ctx.projectId, roleId), withoutNulls(holder), ctx.actor);
  }

  @FieldResolver(() => ClientView)
  async client(@Root() role: ClientRole, @Ctx() { loaders }: AdminContext) {
    return found(await loaders.client(keyIn(role.project.id, role.client.id)), 'client');
  }

  @FieldResolver(() => Int, { description: 'Users to whom it is assigned, without those of groups.' })
  async userCount(@Root() role: ClientRole, @Ctx() { loaders }: AdminContext) {
    return (await loaders.holdersOf(role))?.users ?? 0;
  }

  @FieldResolver(() => Int)
  async groupCount(@Root() role: ClientRole, @Ctx() { loaders }: AdminContext) {
    return (await loaders.holdersOf(role))?.groups ?? 0;
  }
}

@Resolver(() => RoleAssignmentView)
export class RoleAssignmentResolver {
  @FieldResolver(() => RoleView)
  async role(@Root() { project, role }: RoleAssignment, @Ctx() { loaders }: AdminContext) {
    return found(await loaders.role(keyIn(project.id, role.id)), 'role');
  }

  @FieldResolver(() => UserView, { nullable: true })
  user(@Root() { project, user }: RoleAssignment, @Ctx() { loaders }: AdminContext) {
    return user ? loaders.user(keyIn(project.id, user.id)) : null;
  }

  @FieldResolver(() => GroupView, { nullable: true })
  group(@Root() { project, group }: RoleAssignment, @Ctx() { loaders }: AdminContext) {
    return group ? loaders.group(keyIn(project.id, group.id)) : null;
  }
}
