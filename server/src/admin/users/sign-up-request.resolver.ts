import { Arg, Ctx, ID, Int, Mutation, Query, Resolver } from 'type-graphql';
import { keyIn } from '../../domain/projects/tenant.ts';
import { type SignUpRequest } from '../../domain/signups/sign-up-request.entity.ts';
import { countRequests, requestsOf } from '../../domain/signups/sign-up-requests.ts';
import { Requires } from '../api/access.ts';
import { connection, pageRequest } from '../api/connection.ts';
import { type ProjectContext } from '../api/context.ts';
import { SignUpRequestConnection, SignUpRequestStateEnum, SignUpRequestView } from './sign-up-request.view.ts';
import { UserView } from './user.view.ts';

@Resolver(() => SignUpRequestView)
export class SignUpRequestResolver {
  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'users:read' })
  @Query(() => SignUpRequestConnection, { description: 'Requests to sign up, newest first, without expired ones.' })
  async signUpRequests(
    @Arg('projectId', () => ID) projectId: string,
    @Ctx() { em, now }: ProjectContext,
    @Arg('state', () => SignUpRequestStateEnum, { defaultValue: 'pending' }) state: SignUpRequest['state'],
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const request = pageRequest('sign-up-requests', { first, after });
    const of = { projectId, state, now };
    return connection('sign-up-requests', await requestsOf(em, of, request), request, () => countRequests(em, of));
  }

  @Requires('project_admin', { about: { 'sign-up-request': 'id' }, scope: 'users:write' })
  @Mutation(() => UserView, {
    description:
      'Creates the user of a request, also of a declined one, and sends a mail with a link to the application. If an account has the address meanwhile, returns that one.',
  })
  approveSignUp(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, projectId }: ProjectContext) {
    return domain.signUpApprovals.approve(keyIn(projectId, id), actor);
  }

  @Requires('project_admin', { about: { 'sign-up-request': 'id' }, scope: 'users:write' })
  @Mutation(() => SignUpRequestView, {
    description:
      'Declines a pending request. The person gets no message; until the request expires, they cannot ask again.',
  })
  declineSignUp(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, projectId }: ProjectContext) {
    return domain.signUpApprovals.decline(keyIn(projectId, id), actor);
  }
}
