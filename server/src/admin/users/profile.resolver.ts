import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import { found } from '../../domain/kernel/problem.ts';
import { addressOf } from '../../domain/users/edits/profile-edit.ts';
import { profileOf } from '../../domain/users/profile.ts';
import { User } from '../../domain/users/user.entity.ts';
import { Requires } from '../api/access.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import { CreateUserInput, givesCustomValues, newUserOf } from './new-user.inputs.ts';
import { changesLogin, UpdateUserInput } from './profile.inputs.ts';
import { PostalAddressView } from './profile.view.ts';
import { UserView } from './user.view.ts';

/** The attributes of a user that admins can edit. */
@Resolver(() => UserView)
export class ProfileResolver {
  @Requires('project_admin', { about: { project: 'projectId' }, fresh: givesCustomValues, scope: 'users:write' })
  @Mutation(() => UserView, { description: 'The user signs in with the address.' })
  async createUser(
    @Arg('input', () => CreateUserInput) { projectId, organizationId, invite, ...wanted }: CreateUserInput,
    @Ctx() { actor, domain, em }: AdminContext,
  ) {
    const options = { invite: invite === true, organizationId: organizationId ?? undefined };
    const id = await domain.newUsers.add(projectId, newUserOf(wanted), options, actor);
    return found(await em.findOne(User, { project: projectId, id }), 'user');
  }

  @Requires('project_admin', { about: { user: 'id' }, fresh: changesLogin, scope: 'users:write' })
  @Mutation(() => UserView, {
    description:
      'A new login address or phone ends open sign-ins and a recovery grant of the user, and is announced to the addresses that the user had before.',
  })
  async updateUser(
    @Arg('input', () => UpdateUserInput) { id, ...change }: UpdateUserInput,
    @Ctx() { actor, domain, em, projectId }: ProjectContext,
  ) {
    await domain.userEdits.edit(projectId, id, change, actor);
    return found(await em.findOne(User, { project: projectId, id }), 'user');
  }

  @FieldResolver(() => String, { nullable: true, description: 'BCP 47 language tag.' })
  locale(@Root() user: User) {
    return profileOf(user).locale;
  }

  @FieldResolver(() => String, { nullable: true, description: 'IANA time zone.' })
  zoneinfo(@Root() user: User) {
    return profileOf(user).zoneinfo;
  }

  @FieldResolver(() => String, { nullable: true, description: 'ISO 8601 date.' })
  birthdate(@Root() user: User) {
    return profileOf(user).birthdate;
  }

  @FieldResolver(() => PostalAddressView, { nullable: true, description: 'The primary address, else the first.' })
  address(@Root() user: User) {
    return addressOf(user.attributes);
  }
}
