import { GraphQLDateTime } from 'graphql-scalars';
import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { CustomDomain } from '../../domain/domains/custom-domain.entity.ts';
import { challengeName } from '../../domain/projects/dns-proof.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { Requires } from '../api/access.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import { CustomDomainView } from './domain.view.ts';

@Resolver(() => CustomDomainView)
export class CustomDomainResolver {
  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'projects:read' })
  @Query(() => [CustomDomainView], { description: 'The custom domains of a project, by host; at most 5.' })
  customDomains(@Arg('projectId', () => ID) projectId: string, @Ctx() { domain, em }: AdminContext) {
    return domain.domains.list(em, projectId);
  }

  // Links in mails lead there, and its holder sees the codes and sessions of the users who follow them.
  @Requires('project_admin', {
    ...{ about: { project: 'projectId' }, fresh: true, scope: 'projects:write', overUsers: true },
  })
  @Mutation(() => CustomDomainView, { description: 'It works once its TXT record has been verified.' })
  createCustomDomain(
    @Arg('projectId', () => ID) projectId: string,
    @Arg('host', () => String) host: string,
    @Ctx() ctx: AdminContext,
  ) {
    return ctx.domain.domains.create(projectId, host, ctx.actor);
  }

  @Requires('project_admin', { about: { domain: 'id' }, scope: 'projects:write' })
  @Mutation(() => CustomDomainView, { description: 'Checks the TXT record now.' })
  checkCustomDomain(@Arg('id', () => ID) id: string, @Ctx() ctx: ProjectContext) {
    return ctx.domain.domains.check(keyIn(ctx.projectId, id), ctx.actor);
  }

  @Requires('project_admin', { about: { domain: 'id' }, fresh: true, scope: 'projects:write' })
  @Mutation(() => ID, {
    description:
      'Its host is no longer served; its sessions, refresh tokens, devices and passkeys end. Returns its id.',
  })
  async deleteCustomDomain(@Arg('id', () => ID) id: string, @Ctx() ctx: ProjectContext) {
    await ctx.domain.domains.remove(keyIn(ctx.projectId, id), ctx.actor);
    return id;
  }

  @FieldResolver(() => String, { description: 'Name of the TXT record.' })
  challengeName(@Root() { host }: CustomDomain) {
    return challengeName(host);
  }

  @FieldResolver(() => String, { description: '`iss` at this domain.' })
  issuer(@Root() domain: CustomDomain, @Ctx() ctx: AdminContext) {
    return ctx.domain.domains.issuerOf(domain);
  }

  @FieldResolver(() => GraphQLDateTime, {
    nullable: true,
    description: 'Time from which the next failed check ends a verified domain; null: its checks succeed.',
  })
  releaseAt(@Root() domain: CustomDomain, @Ctx() ctx: AdminContext) {
    return ctx.domain.domains.releaseAt(domain);
  }
}
