import { Arg, Ctx, ID, Mutation, Resolver } from 'type-graphql';
import { found } from '../../domain/kernel/problem.ts';
import { User } from '../../domain/users/user.entity.ts';
import { Requires } from '../api/access.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import { errorFor } from '../api/graphql-error.ts';
import { givesCustomValues, ImportUsersInput, newUserOf } from './new-user.inputs.ts';
import { ImportedUsers } from './new-user.view.ts';
import { UserView } from './user.view.ts';

/** Imports of users, and invitations. */
@Resolver()
export class NewUserResolver {
  @Requires('project_admin', { about: { project: 'projectId' }, fresh: givesCustomValues, scope: 'users:write' })
  @Mutation(() => ImportedUsers, {
    description: 'Adds users. Idempotent: repeat it if the response is lost; users who exist stay unchanged.',
  })
  async importUsers(
    @Arg('input', () => ImportUsersInput) { projectId, organizationId, rows, invite, dryRun }: ImportUsersInput,
    @Ctx() { actor, domain }: AdminContext,
  ): Promise<ImportedUsers> {
    const options = { invite: invite === true, dryRun: dryRun === true, organizationId: organizationId ?? undefined };
    const outcomes = await domain.newUsers.addMany(projectId, rows.map(newUserOf), options, actor);
    const answer: ImportedUsers = { created: 0, known: [], refused: [] };
    for (const [row, outcome] of outcomes.entries()) {
      if ('userId' in outcome) answer.created += 1;
      else if (outcome.isKnown) answer.known.push(row);
      else {
        const { code } = outcome.refused;
        const { message, extensions } = errorFor(outcome.refused);
        const field = typeof extensions['field'] === 'string' ? extensions['field'] : null;
        answer.refused.push({ row, field, code, message });
      }
    }
    return answer;
  }

  @Requires('project_admin', { about: { user: 'userId' }, scope: 'users:write' })
  @Mutation(() => UserView, { description: 'Sends an invitation to a user who has not signed in, also again.' })
  async inviteUser(@Arg('userId', () => ID) userId: string, @Ctx() { actor, domain, em, projectId }: ProjectContext) {
    await domain.invitations.invite(projectId, userId, actor);
    return found(await em.findOne(User, { project: projectId, id: userId }), 'user');
  }

  @Requires('project_admin', { about: { user: 'userId' }, fresh: true, scope: 'users:write' })
  @Mutation(() => UserView, {
    description: 'Revokes the invitation of a user who has not signed in, and deactivates the user.',
  })
  async revokeInvitation(
    @Arg('userId', () => ID) userId: string,
    @Ctx() { actor, domain, em, projectId }: ProjectContext,
  ) {
    await domain.invitations.revoke(projectId, userId, actor);
    return found(await em.findOne(User, { project: projectId, id: userId }), 'user');
  }
}
