import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { organizationRolesOf } from '../../domain/organizations/organization-roles.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { Requires } from '../api/access.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import { CreateOrganizationRoleInput, UpdateOrganizationRoleInput } from './organization.inputs.ts';
import { OrganizationRoleView } from './organization.view.ts';

@Resolver(() => OrganizationRoleView)
export class OrganizationRoleResolver {
  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'users:read' })
  @Query(() => [OrganizationRoleView], { description: 'The roles of members of organizations, by name; at most 200.' })
  organizationRoles(@Arg('projectId', () => ID) projectId: string, @Ctx() { em }: AdminContext) {
    return organizationRolesOf(em, projectId);
  }

  @Requires('project_admin', { about: { project: 'projectId' }, scope: 'users:write' })
  @Mutation(() => OrganizationRoleView)
  createOrganizationRole(
    @Arg('input', () => CreateOrganizationRoleInput) { projectId, key, name }: CreateOrganizationRoleInput,
    @Ctx() { actor, domain }: AdminContext,
  ) {
    return domain.organizationRoles.create(projectId, { key, name }, actor);
  }

  @Requires('project_admin', { about: { 'organization-role': 'id' }, scope: 'users:write' })
  @Mutation(() => OrganizationRoleView)
  updateOrganizationRole(
    @Arg('input', () => UpdateOrganizationRoleInput) { id, name }: UpdateOrganizationRoleInput,
    @Ctx() { actor, domain, projectId }: ProjectContext,
  ) {
    return domain.organizationRoles.rename(keyIn(projectId, id), name, actor);
  }

  @Requires('project_admin', { about: { 'organization-role': 'id' }, fresh: true, scope: 'users:write' })
  @Mutation(() => ID, { description: 'Also removes it from all members. Returns its id.' })
  async deleteOrganizationRole(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, projectId }: ProjectContext) {
    await domain.organizationRoles.delete(keyIn(projectId, id), actor);
    return id;
  }
}
