import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { keyIn } from '../../domain/projects/tenant.ts';
import { Requires } from '../api/access.ts';
import { type AdminContext, type ProjectContext, withoutNulls } from '../api/context.ts';
import {
  IssuedRegistrationToken,
  IssueRegistrationTokenInput,
  RegistrationTokenView,
} from './registration-token.view.ts';

@Resolver(() => RegistrationTokenView)
export class RegistrationTokenResolver {
  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'clients:read' })
  @Query(() => [RegistrationTokenView], { description: 'Initial access tokens, newest first, without revoked ones.' })
  registrationTokens(@Arg('projectId', () => ID) projectId: string, @Ctx() { domain, em }: AdminContext) {
    return domain.registrationTokens.list(em, projectId);
  }

  @Requires('project_admin', { about: { project: 'projectId' }, fresh: true, scope: 'clients:write' })
  @Mutation(() => IssuedRegistrationToken)
  issueRegistrationToken(
    @Arg('input', () => IssueRegistrationTokenInput) { projectId, name, days }: IssueRegistrationTokenInput,
    @Ctx() ctx: AdminContext,
  ) {
    return ctx.domain.registrationTokens.issue(projectId, { name, ...withoutNulls({ days }) }, ctx.actor);
  }

  @Requires('project_admin', { about: { 'registration-token': 'id' }, scope: 'clients:write' })
  @Mutation(() => RegistrationTokenView, {
    description: 'Revokes an initial access token. Clients registered with it stay.',
  })
  revokeRegistrationToken(@Arg('id', () => ID) id: string, @Ctx() ctx: ProjectContext) {
    return ctx.domain.registrationTokens.revoke(keyIn(ctx.projectId, id), ctx.actor);
  }
}
