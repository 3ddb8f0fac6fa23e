import { Arg, Ctx, ID, InputType, Mutation, ObjectType, Resolver } from 'type-graphql';
import { Access, Requires } from '../api/access.ts';
import type { ProjectContext } from '../api/context.ts';
import { fields, id, inputFields, int, nullable, text, time } from '../api/fields.ts';

@InputType()
export class GrantUserRecoveryInput extends inputFields({
  userId: id(),
  reason: text('For the event. At most 500 characters.'),
  waitHours: nullable(int('Waiting time in hours, from 1 to 72; default 24.')),
}) {}

@Access('inherited')
@ObjectType({ description: 'A new recovery grant.' })
export class GrantedRecovery extends fields({
  code: text('Shown once. For the user only, together with a code by mail.'),
  usableAt: time('End of the waiting time.'),
  expiresAt: time(),
}) {}

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

  @Requires('project_admin', { about: { user: 'userId' }, scope: 'users:write' })
  @Mutation(() => ID, {
    description: 'Cancels the deletion that a user has requested, if any. Returns the id of the user.',
  })
  async cancelUserDeletion(
    @Arg('userId', () => ID) userId: string,
    @Ctx() { actor, domain, projectId }: ProjectContext,
  ): Promise<string> {
    await domain.accountDeletions.cancel(projectId, userId, actor);
    return userId;
  }
}
