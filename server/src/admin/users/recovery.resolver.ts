import { GraphQLDateTime } from 'graphql-scalars';
import { Arg, Ctx, Field, ID, InputType, Int, Mutation, ObjectType, Resolver } from 'type-graphql';
import { Access, Requires } from '../api/access.ts';
import type { ProjectContext } from '../api/context.ts';

@InputType()
export class GrantUserRecoveryInput {
  @Field(() => ID)
  userId!: string;

  @Field(() => String, { description: 'For the event. At most 500 characters.' })
  reason!: string;

  @Field(() => Int, { nullable: true, description: 'Waiting time in hours, from 1 to 72; default 24.' })
  waitHours?: number | null;
}

@Access('inherited')
@ObjectType({ description: 'A new recovery grant.' })
export class GrantedRecovery {
  @Field(() => String, { description: 'Shown once. For the user only, beside a code by mail.' })
  code!: string;

  @Field(() => GraphQLDateTime, { description: 'End of the waiting time.' })
  usableAt!: Date;

  @Field(() => GraphQLDateTime)
  expiresAt!: Date;
}

@Resolver()
export class RecoveryResolver {
  @Requires('project_admin', { about: { user: 'userId' }, fresh: true, scope: 'users:write' })
  @Mutation(() => GrantedRecovery, {
    description:
      'Allows one sign-in by mail code without the passkey or second factor, and notifies the user. Replaces an open grant.',
  })
  async grantUserRecovery(
    @Arg('input', () => GrantUserRecoveryInput) { userId, reason, waitHours }: GrantUserRecoveryInput,
    @Ctx() { actor, domain, projectId }: ProjectContext,
  ): Promise<GrantedRecovery> {
    const requested = { reason, hours: waitHours ?? 24 };
    const { code, grant } = await domain.recoveries.grant(projectId, userId, requested, actor);
    return { code, usableAt: grant.usableAt, expiresAt: grant.expiresAt };
  }

  @Requires('project_admin', { about: { user: 'userId' }, scope: 'users:write' })
  @Mutation(() => ID, { description: 'Cancels the open recovery grant of a user, if any. Returns the id of the user.' })
  async cancelUserRecovery(
    @Arg('userId', () => ID) userId: string,
    @Ctx() { actor, domain, projectId }: ProjectContext,
  ): Promise<string> {
    await domain.recoveries.cancel(projectId, userId, actor);
    return userId;
  }
}
