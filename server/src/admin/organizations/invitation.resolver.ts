import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { chooseLocale } from '../../domain/delivery/locale.ts';
import { found } from '../../domain/kernel/problem.ts';
import { sentInvitations } from '../../domain/organizations/invitations/open-invitations.ts';
import type { OrganizationInvitation } from '../../domain/organizations/invitations/organization-invitation.entity.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { Requires } from '../api/access.ts';
import { connection, pageRequest } from '../api/connection.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import { OrganizationInvitationConnection, OrganizationInvitationView } from './invitation.view.ts';
import { InviteOrganizationMemberInput } from './organization.inputs.ts';
import { OrganizationRoleView, OrganizationView } from './organization.view.ts';

@Resolver(() => OrganizationInvitationView)
export class OrganizationInvitationResolver {
  @Requires('project_viewer', { about: { organization: 'organizationId' }, scope: 'users:read' })
  @Query(() => OrganizationInvitationConnection, {
    description: 'The invitations of an organization, newest first; until 90 days after their expiry.',
  })
  async organizationInvitations(
    @Arg('organizationId', () => ID) organizationId: string,
    @Ctx() { em, projectId }: ProjectContext,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const request = pageRequest('organization-invitations', { first, after });
    const page = await sentInvitations(em, keyIn(projectId, organizationId), request);
    return connection('organization-invitations', page, request);
  }

  @Requires('project_admin', { about: { organization: 'organizationId' }, fresh: true, scope: 'users:write' })
  @Mutation(() => OrganizationInvitationView, {
    description:
      'Sends a mail with a link, valid for 14 days. The person accepts it after a sign-in with this address, which can then also sign up. An open invitation of the address is replaced.',
  })
  inviteOrganizationMember(
    @Arg('input', () => InviteOrganizationMemberInput) input: InviteOrganizationMemberInput,
    @Ctx() { actor, domain, projectId }: ProjectContext,
  ) {
    const { organizationId, email, roleKeys, locale } = input;
    const invited = { email, roleKeys: roleKeys ?? undefined, locale: localeOf(locale) };
    return domain.organizationInvitations.invite(keyIn(projectId, organizationId), invited, actor);
  }

  @Requires('project_admin', { about: { 'organization-invitation': 'id' }, fresh: true, scope: 'users:write' })
  @Mutation(() => OrganizationInvitationView, {
    description: 'Sends a new link, valid for 14 days; the former one ends.',
  })
  resendOrganizationInvitation(
    @Arg('id', () => ID) id: string,
    @Ctx() { actor, domain, projectId }: ProjectContext,
    @Arg('locale', () => String, { nullable: true, description: 'As for `inviteOrganizationMember`.' })
    locale?: string | null,
  ) {
    return domain.organizationInvitations.resend(keyIn(projectId, id), localeOf(locale), actor);
  }

  @Requires('project_admin', { about: { 'organization-invitation': 'id' }, scope: 'users:write' })
  @Mutation(() => OrganizationInvitationView)
  revokeOrganizationInvitation(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, projectId }: ProjectContext) {
    return domain.organizationInvitations.revoke(keyIn(projectId, id), actor);
  }

  @FieldResolver(() => OrganizationView)
  async organization(@Root() { project, organization }: OrganizationInvitation, @Ctx() { loaders }: AdminContext) {
    return found(await loaders.organization(keyIn(project.id, organization.id)), 'organization');
  }

  @FieldResolver(() => [OrganizationRoleView], { description: 'Roles of the new member, by name.' })
  async roles(@Root() { project, roleIds }: OrganizationInvitation, @Ctx() { loaders }: AdminContext) {
    const roles = await Promise.all(roleIds.map((id) => loaders.organizationRole(keyIn(project.id, id))));
    return roles.filter((role) => role !== undefined).sort((one, two) => one.name.localeCompare(two.name, 'en'));
  }
}

function localeOf(tag: string | null | undefined) {
  return tag == null ? undefined : chooseLocale(tag, undefined);
}
