import { Arg, Ctx, FieldResolver, ID, Mutation, ObjectType, Query, Resolver, Root } from 'type-graphql';
import { found } from '../../domain/kernel/problem.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import type { UserKey } from '../../domain/tokens/keys/user-key.entity.ts';
import { User } from '../../domain/users/user.entity.ts';
import { Access, ofProject, Requires } from '../api/access.ts';
import type { ProjectContext } from '../api/context.ts';
import { fields, id, list, nullable, text, time } from '../api/fields.ts';
import { ApiView } from './api.view.ts';

@Access('project_viewer', ofProject, 'users:read')
@ObjectType('UserKey', { description: 'An API key that a user made. The key itself was shown once, to the user.' })
class UserKeyView extends fields({
  id: id(),
  name: text(),
  hint: text('The last four characters.'),
  scopes: list(text()),
  networks: list(text('Address or range (CIDR) from which it works; none: all.')),
  organizationId: nullable(id('The organization of its context.')),
  createdAt: time(),
  expiresAt: time(),
  lastUsedAt: nullable(time('With a resolution of one minute.')),
  lastUsedAddress: nullable(text('As the API reported it.')),
}) {}

@Resolver(() => UserKeyView)
export class UserKeyResolver {
  @Requires('project_viewer', { about: { user: 'userId' }, scope: 'users:read' })
  @Query(() => [UserKeyView], { description: 'The API keys of a user that have not ended, newest first.' })
  async userKeys(@Arg('userId', () => ID) userId: string, @Ctx() { domain, em, projectId }: ProjectContext) {
    found(await em.findOne(User, { project: projectId, id: userId }), 'user');
    return domain.userKeys.list(em, keyIn(projectId, userId));
  }

  @Requires('project_admin', { about: { 'user-key': 'id' }, scope: 'users:write' })
  @Mutation(() => ID, { description: 'Ends an API key of a user. Returns its id.' })
  async revokeUserKey(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, projectId }: ProjectContext) {
    await domain.userKeys.revokeAny(keyIn(projectId, id), actor);
    return id;
  }

  @FieldResolver(() => ApiView)
  api(@Root() { api }: UserKey) {
    return api.getEntity();
  }
}
