import { Arg, Ctx, ID, Query, Resolver } from 'type-graphql';
import { keyIn } from '../../domain/projects/tenant.ts';
import { explanationOf } from '../../domain/support/explanations.ts';
import { oauthErrors } from '../../domain/support/oauth-errors.ts';
import { isOf, signInHistory } from '../../domain/support/sign-in-history.ts';
import { Requires } from '../api/access.ts';
import type { AdminContext } from '../api/context.ts';
import { SignInHistoryView } from './sign-in-history.view.ts';

@Resolver()
export class SignInHistoryResolver {
  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'audit:read' })
  @Query(() => SignInHistoryView, {
    description: 'The last attempts to sign in, step by step, from the audit log. Contains no codes and no tokens.',
  })
  async signInHistory(
    @Arg('projectId', () => ID) projectId: string,
    @Arg('about', () => String, {
      nullable: true,
      description: 'An address, a request id (support code) or an OAuth error. Default: the latest refusals.',
    })
    about: string | null,
    @Ctx() { em, loaders }: AdminContext,
  ) {
    const found = await signInHistory(em, projectId, about ?? null);
    const user = found.userId === null ? undefined : await loaders.user(keyIn(projectId, found.userId));
    const attempts = found.attempts.map(async ({ clientId, steps, ...attempt }) => ({
      ...attempt,
      client: clientId === null ? null : ((await loaders.client(keyIn(projectId, clientId))) ?? null),
      steps: steps.map((event) => ({
        event,
        explanation: explanationOf(event),
        isOfRequest: found.kind === 'request' && isOf(event, found.about),
      })),
    }));
    return {
      ...found,
      user: user ? { id: user.id, name: user.displayName ?? user.userName } : null,
      explanation: found.kind === 'error' ? oauthErrors[found.about] : null,
      attempts: await Promise.all(attempts),
    };
  }
}
