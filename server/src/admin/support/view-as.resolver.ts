import { Arg, Ctx, ID, Query, Resolver } from 'type-graphql';
import { refuse } from '../../domain/kernel/problem.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import type { ExpectedStep } from '../../domain/support/view-as.ts';
import { Requires } from '../api/access.ts';
import type { ProjectContext } from '../api/context.ts';
import { ViewAsView } from './view-as.view.ts';

const maxScopes = 20;

@Resolver()
export class ViewAsResolver {
  @Requires('project_viewer', { about: { client: 'clientId' }, scope: 'users:read' })
  @Query(() => ViewAsView, {
    description:
      'A preview of a sign-in to an application on the hosted page now, by policy and factors. Writes nothing.',
  })
  async viewAs(
    @Arg('clientId', () => ID) clientId: string,
    @Arg('userId', () => ID) userId: string,
    @Arg('scopes', () => [String], { description: 'The requested scopes.' }) scopes: string[],
    @Ctx() { domain, em, projectId }: ProjectContext,
  ) {
    if (scopes.length > maxScopes) refuse({ code: 'invalid', field: 'scopes', reason: `must be at most ${maxScopes}` });
    const { signIns, ...rest } = await domain.forecast.of(em, keyIn(projectId, clientId), userId, scopes);
    return {
      ...rest,
      signIns: signIns.map(({ device, steps, denied }) => ({
        deviceId: device?.id ?? null,
        deviceName: device?.name ?? null,
        steps: steps.map(shown),
        denied,
      })),
    };
  }
}

function shown({ step, reason }: ExpectedStep) {
  const methods = step.kind === 'factor' ? [step.method] : step.kind === 'enrolment' ? step.methods : [];
  return { kind: step.kind, reason, methods };
}
