import 'reflect-metadata';
import { GraphQLJSONObject } from 'graphql-scalars';
import { Arg, Ctx, Field, ID, InputType, Int, Mutation, ObjectType, Resolver } from 'type-graphql';
import type { TrialResult } from '../domain/ceremonies/trials.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { refuse } from '../domain/kernel/problem.ts';
import { ClientView } from './client.view.ts';
import type { AdminContext } from './context.ts';

@ObjectType({ description: 'A sign-in that is being tried in this browser.' })
class BegunTrial {
  @Field(() => String, { description: 'Where it goes on: the hosted page.' })
  address!: string;
}

@ObjectType({ description: 'A token taken apart; the token itself is not shown.' })
class DecodedToken {
  @Field(() => GraphQLJSONObject)
  header!: object;

  @Field(() => GraphQLJSONObject)
  claims!: object;

  @Field(() => Boolean, { description: 'Whether signature, type, issuer and times hold against the published keys.' })
  verified!: boolean;
}

@ObjectType('TrialResult', { description: 'What the application would have been given.' })
class TrialResultView {
  @Field(() => ClientView)
  client!: Client;

  @Field(() => DecodedToken)
  idToken!: DecodedToken;

  @Field(() => DecodedToken)
  accessToken!: DecodedToken;

  @Field(() => GraphQLJSONObject, { description: 'What UserInfo said to the access token.' })
  userInfo!: object;

  @Field(() => String)
  scope!: string;

  @Field(() => Int)
  expiresInSeconds!: number;

  @Field(() => Boolean, { description: 'Whether the access token is worth nothing any more.' })
  revoked!: boolean;
}

@InputType()
class FinishTrialInput {
  @Field(() => ID)
  clientId!: string;

  @Field(() => String, { description: 'As it came back.' })
  state!: string;

  @Field(() => String)
  code!: string;
}

@Resolver()
export class TrialResolver {
  @Mutation(() => BegunTrial, { description: 'Tries a sign-in of a client in this browser, on the hosted page.' })
  async beginTrial(@Arg('clientId', () => ID) clientId: string, @Ctx() ctx: AdminContext): Promise<BegunTrial> {
    const { flow, browserSecret } = await ctx.domain.trials.begin(clientId, sessionOf(ctx), ctx.actor);
    ctx.setFlowCookie(flow, browserSecret);
    return { address: `/signin?${new URLSearchParams({ flow })}` };
  }

  @Mutation(() => TrialResultView, {
    description: 'Redeems the code of a trial in the session that began it, and revokes what it gave.',
  })
  finishTrial(
    @Arg('input', () => FinishTrialInput) input: FinishTrialInput,
    @Ctx() ctx: AdminContext,
  ): Promise<TrialResult> {
    const { clientId, state, code } = input;
    return ctx.domain.trials.finish(clientId, sessionOf(ctx), state, code, ctx.actor);
  }
}

function sessionOf({ caller }: AdminContext): string {
  return caller.sessionId ?? refuse({ code: 'forbidden', reason: 'a sign-in is tried in the browser of an admin' });
}
