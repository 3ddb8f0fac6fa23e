import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { found } from '../../domain/kernel/problem.ts';
import { Organization } from '../../domain/organizations/organization.entity.ts';
import { organizationFields } from '../../domain/organizations/organization.resource.ts';
import { countOrganizations, organizationsOf } from '../../domain/organizations/organization-lists.ts';
import { defaultRolesOf } from '../../domain/organizations/organization-roles.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { type Inputs, Requires } from '../api/access.ts';
import { connection, pageRequest } from '../api/connection.ts';
import { type AdminContext, type ProjectContext, withoutNulls } from '../api/context.ts';
import { changesSensitive, settingsIn } from '../api/resource-types.ts';
import { ProjectView } from '../projects/project.view.ts';
import { CreateOrganizationInput, DeleteOrganizationInput, UpdateOrganizationInput } from './organization.inputs.ts';
import { OrganizationConnection, OrganizationRoleView, OrganizationView } from './organization.view.ts';

@Resolver(() => OrganizationView)
export class OrganizationResolver {
  @Requires('project_viewer', { about: { organization: 'id' }, scope: 'users:read' })
  @Query(() => OrganizationView, { nullable: true })
  async organization(@Arg('id', () => ID) id: string, @Ctx() { em, projectId }: ProjectContext) {
    return found(await em.findOne(Organization, { project: projectId, id }), 'organization');
  }

  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'users:read' })
  @Query(() => OrganizationConnection, { description: 'The organizations of a project, newest first.' })
  async organizations(
    @Arg('projectId', () => ID) projectId: string,
    @Ctx() { em }: AdminContext,
    @Arg('search', () => String, {
      nullable: true,
      description: 'Part of the name, ignoring case and accents, or of the slug.',
    })
    search?: string | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const request = pageRequest('organizations', { first, after });
    const wanted = search ?? undefined;
    const page = await organizationsOf(em, projectId, wanted, request);
    return connection('organizations', page, request, () => countOrganizations(em, projectId, wanted));
  }

  @Requires('project_admin', { about: { project: 'projectId' }, fresh: isSensitive, scope: 'users:write' })
  @Mutation(() => OrganizationView)
  createOrganization(
    @Arg('input', () => CreateOrganizationInput) input: CreateOrganizationInput,
    @Ctx() { actor, domain }: AdminContext,
  ) {
    const { projectId, slug, name } = input;
    const { metadata, defaultRoleKeys } = withoutNulls(input);
    const settings = { ...settingsIn(organizationFields, withoutNulls({ ...input })), slug, name };
    return domain.organizations.create(projectId, { ...settings, metadata, defaultRoleKeys }, actor);
  }

  @Requires('project_admin', { about: { organization: 'id' }, fresh: isSensitive, scope: 'users:write' })
  @Mutation(() => OrganizationView)
  updateOrganization(
    @Arg('input', () => UpdateOrganizationInput) input: UpdateOrganizationInput,
    @Ctx() { actor, domain, projectId }: ProjectContext,
  ) {
    const { metadata, defaultRoleKeys } = withoutNulls(input);
    const change = { ...settingsIn(organizationFields, input), metadata, defaultRoleKeys };
    return domain.organizations.update(keyIn(projectId, input.id), change, actor);
  }

  @Requires('project_admin', { about: { organization: 'id' }, fresh: true, scope: 'users:write' })
  @Mutation(() => ID, {
    description:
      'Also deletes its memberships, invitations and domains, and ends the tokens of its members in it. Members at home elsewhere stay users. Returns its id.',
  })
  async deleteOrganization(
    @Arg('input', () => DeleteOrganizationInput) { id, people }: DeleteOrganizationInput,
    @Ctx() { actor, domain, projectId }: ProjectContext,
  ) {
    await domain.organizationEnds.delete(keyIn(projectId, id), people ?? null, actor);
    return id;
  }

  @FieldResolver(() => Int, { description: 'Suspended and requested ones included; at most 10,000.' })
  async memberCount(@Root() organization: Organization, @Ctx() { loaders }: AdminContext) {
    return (await loaders.membersOfOrganization(organization))?.count ?? 0;
  }

  @FieldResolver(() => Boolean, { description: 'Whether there are more than `memberCount`.' })
  async isMemberCountLimited(@Root() organization: Organization, @Ctx() { loaders }: AdminContext) {
    return (await loaders.membersOfOrganization(organization))?.isLimited ?? false;
  }

  @FieldResolver(() => [OrganizationRoleView], { description: 'Roles that new members get if none is named, by name.' })
  defaultRoles(@Root() organization: Organization, @Ctx() { em }: AdminContext) {
    return defaultRolesOf(em, organization);
  }

  @FieldResolver(() => ProjectView)
  async project(@Root() { project }: Organization, @Ctx() { loaders }: AdminContext) {
    return found(await loaders.project(project.id), 'project');
  }
}

/** Whether its rules change, or the rights of new members. */
function isSensitive(inputs: Inputs): boolean {
  return changesSensitive(organizationFields, inputs) || inputs['defaultRoleKeys'] != null;
}
