import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import {
  clientsOfUser,
  countClientsOfUser,
  countRules,
  countUsers,
  rulesOf,
} from '../../domain/access/access-lists.ts';
import type { AccessRule } from '../../domain/access/access-rule.entity.ts';
import { Client } from '../../domain/clients/client.entity.ts';
import { clientFields } from '../../domain/clients/client.resource.ts';
import { found } from '../../domain/kernel/problem.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { User } from '../../domain/users/user.entity.ts';
import { Requires } from '../api/access.ts';
import { connection, pageRequest } from '../api/connection.ts';
import { type AdminContext, type ProjectContext, withoutNulls } from '../api/context.ts';
import { enumOf } from '../api/resource-types.ts';
import { ClientView } from '../clients/client.view.ts';
import { OrganizationView } from '../organizations/organization.view.ts';
import { RoleView } from '../roles/role.view.ts';
import { GroupView } from '../users/group.view.ts';
import { UserView } from '../users/user.view.ts';
import { GrantAccessInput } from './access-rule.inputs.ts';
import { AccessRuleConnection, AccessRuleView, UserApplicationConnection, UserTotal } from './access-rule.view.ts';

@Resolver(() => AccessRuleView)
export class AccessRuleResolver {
  @Requires('project_viewer', { about: { client: 'clientId' }, scope: 'users:read' })
  @Query(() => AccessRuleConnection, { description: 'The access rules of an application, newest first.' })
  async accessRules(
    @Arg('clientId', () => ID) clientId: string,
    @Ctx() { em, projectId }: ProjectContext,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const request = pageRequest('access-rules', { first, after });
    const key = keyIn(projectId, clientId);
    return connection('access-rules', await rulesOf(em, key, request), request, () => countRules(em, key));
  }

  @Requires('project_viewer', { about: { client: 'clientId' }, scope: 'users:read' })
  @Query(() => UserTotal, { description: 'The number of active users who may use an application.' })
  async usersWithAccess(
    @Arg('clientId', () => ID) clientId: string,
    @Ctx() { em, projectId }: ProjectContext,
    @Arg('access', () => enumOf(clientFields.access.enum), {
      nullable: true,
      description: 'Counts as if the application had this `access`. Default: the one that it has.',
    })
    access?: Client['access'] | null,
  ) {
    const client = found(await em.findOne(Client, { project: projectId, id: clientId }), 'client');
    return countUsers(em, { project: client.project, id: client.id, access: access ?? client.access });
  }

  @Requires('project_viewer', { about: { user: 'userId' }, scope: 'users:read' })
  @Query(() => UserApplicationConnection, {
    description: 'The applications that a user may use, newest first, and the rules that give access.',
  })
  async userApplications(
    @Arg('userId', () => ID) userId: string,
    @Ctx() { em, projectId }: ProjectContext,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const key = keyIn(projectId, userId);
    found(await em.findOne(User, { project: projectId, id: userId }), 'user');
    const request = pageRequest('user-applications', { first, after });
    const page = await clientsOfUser(em, key, request);
    return connection('user-applications', page, request, () => countClientsOfUser(em, key));
  }

  @Requires('project_admin', { about: { client: 'clientId' }, fresh: true, scope: 'users:write' })
  @Mutation(() => AccessRuleView, {
    description:
      'Gives access to an application whose `access` is ASSIGNED: to a user, a group, an organization or a role of the application. Repeating it changes nothing.',
  })
  grantAccess(
    @Arg('input', () => GrantAccessInput) { clientId, ...holder }: GrantAccessInput,
    @Ctx() ctx: ProjectContext,
  ) {
    return ctx.domain.accessRules.grant(keyIn(ctx.projectId, clientId), withoutNulls(holder), ctx.actor);
  }

  @Requires('project_admin', { about: { 'access-rule': 'id' }, scope: 'users:write' })
  @Mutation(() => ID, { description: 'Removes an access rule. Returns its id.' })
  async revokeAccess(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, projectId }: ProjectContext) {
    await domain.accessRules.revoke(keyIn(projectId, id), actor);
    return id;
  }

  @FieldResolver(() => ClientView)
  async client(@Root() { project, client }: AccessRule, @Ctx() { loaders }: AdminContext) {
    return found(await loaders.client(keyIn(project.id, client.id)), 'client');
  }

  @FieldResolver(() => UserView, { nullable: true })
  user(@Root() { project, user }: AccessRule, @Ctx() { loaders }: AdminContext) {
    return user ? loaders.user(keyIn(project.id, user.id)) : null;
  }

  @FieldResolver(() => GroupView, { nullable: true })
  group(@Root() { project, group }: AccessRule, @Ctx() { loaders }: AdminContext) {
    return group ? loaders.group(keyIn(project.id, group.id)) : null;
  }

  @FieldResolver(() => OrganizationView, { nullable: true })
  organization(@Root() { project, organization }: AccessRule, @Ctx() { loaders }: AdminContext) {
    return organization ? loaders.organization(keyIn(project.id, organization.id)) : null;
  }

  @FieldResolver(() => RoleView, { nullable: true })
  role(@Root() { project, role }: AccessRule, @Ctx() { loaders }: AdminContext) {
    return role ? loaders.role(keyIn(project.id, role.id)) : null;
  }
}
