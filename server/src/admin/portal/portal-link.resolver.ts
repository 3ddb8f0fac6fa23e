import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { chooseLocale } from '../../domain/delivery/locale.ts';
import { found } from '../../domain/kernel/problem.ts';
import { portalLinksOf } from '../../domain/portal/open-links.ts';
import type { PortalLink } from '../../domain/portal/portal-link.entity.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { Requires } from '../api/access.ts';
import { connection, pageRequest } from '../api/connection.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import { OrganizationView } from '../organizations/organization.view.ts';
import { CreatedPortalLink, CreatePortalLinkInput, PortalLinkConnection, PortalLinkView } from './portal-link.view.ts';

@Resolver(() => PortalLinkView)
export class PortalLinkResolver {
  @Requires('project_viewer', { about: { organization: 'organizationId' }, scope: 'users:read' })
  @Query(() => PortalLinkConnection, {
    description: 'The portal links of an organization, newest first; until 90 days after their expiry.',
  })
  async portalLinks(
    @Arg('organizationId', () => ID) organizationId: string,
    @Ctx() { em, projectId }: ProjectContext,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const request = pageRequest('portal-links', { first, after });
    return connection('portal-links', await portalLinksOf(em, keyIn(projectId, organizationId), request), request);
  }

  // Not for applications: a link can connect a provider, which determines who signs in.
  @Requires('project_admin', { about: { organization: 'organizationId' }, fresh: true })
  @Mutation(() => CreatedPortalLink, {
    description:
      'Creates a link that works once, in one browser, which can then set up the organization until the expiry.',
  })
  createPortalLink(
    @Arg('input', () => CreatePortalLinkInput) {
      organizationId,
      expiresAt,
      returnUrl,
      ...input
    }: CreatePortalLinkInput,
    @Ctx() { actor, domain, projectId }: ProjectContext,
  ) {
    const given = { ...input, expiresAt: expiresAt ?? undefined, returnUrl: returnUrl ?? undefined };
    return domain.portalLinks.create(keyIn(projectId, organizationId), given, actor);
  }

  // Not for applications, as its creation.
  @Requires('project_admin', { about: { 'portal-link': 'id' }, fresh: true })
  @Mutation(() => PortalLinkView, {
    description:
      'Sends a new link to the address of the link, which ends; the access of a browser ends when the new one is opened.',
  })
  sendPortalLink(
    @Arg('id', () => ID) id: string,
    @Ctx() { actor, domain, projectId }: ProjectContext,
    @Arg('locale', () => String, { nullable: true, description: 'Language of the mail (BCP 47). Default: English.' })
    locale?: string | null,
  ) {
    return domain.portalLinks.send(keyIn(projectId, id), chooseLocale(locale ?? undefined, undefined), actor);
  }

  @Requires('project_admin', { about: { 'portal-link': 'id' }, scope: 'users:write' })
  @Mutation(() => PortalLinkView, { description: 'Ends the link, and the access of the browser that opened it.' })
  revokePortalLink(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, projectId }: ProjectContext) {
    return domain.portalLinks.revoke(keyIn(projectId, id), actor);
  }

  @FieldResolver(() => OrganizationView)
  async organization(@Root() { project, organization }: PortalLink, @Ctx() { loaders }: AdminContext) {
    return found(await loaders.organization(keyIn(project.id, organization.id)), 'organization');
  }
}
