import { Arg, Ctx, ID, Mutation, Resolver } from 'type-graphql';
import type { TrialResult } from '../../domain/ceremonies/steps/trials.ts';
import { refuse } from '../../domain/kernel/problem.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { Requires } from '../api/access.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import { FinishTrialInput } from './trial.inputs.ts';
import { BegunTrial, TrialResultView } from './trial.view.ts';

@Resolver()
export class TrialResolver {
  @Requires('project_admin', { about: { client: 'clientId' } })
  @Mutation(() => BegunTrial, {
    description: 'Starts a trial sign-in with a client, in this browser on the hosted page.',
  })
  async beginTrial(@Arg('clientId', () => ID) clientId: string, @Ctx() ctx: ProjectContext): Promise<BegunTrial> {
    const { flow, browserSecret } = await ctx.domain.trials.begin(
      keyIn(ctx.projectId, clientId),
      sessionOf(ctx),
      ctx.actor,
    );
    ctx.setFlowCookie(flow, browserSecret);
    return { address: `/signin?${new URLSearchParams({ flow })}` };
  }

  @Requires('project_admin', { about: { client: 'clientId' } })
  @Mutation(() => TrialResultView, {
    description: 'Redeems the code of a trial in the session that started it, and revokes the tokens.',
  })
  finishTrial(
    @Arg('input', () => FinishTrialInput) input: FinishTrialInput,
    @Ctx() ctx: ProjectContext,
  ): Promise<TrialResult> {
    const { clientId, state, code } = input;
    return ctx.domain.trials.finish(keyIn(ctx.projectId, clientId), sessionOf(ctx), state, code, ctx.actor);
  }
}

function sessionOf({ caller }: AdminContext): string {
  return caller.sessionId ?? refuse({ code: 'forbidden', reason: 'a trial requires the browser session of an admin' });
}
