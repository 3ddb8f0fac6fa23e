import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { AccountAccess } from '../../domain/accounts/account-access.ts';
import { countHoldings } from '../../domain/accounts/person-export.ts';
import { Device } from '../../domain/credentials/device.entity.ts';
import { Passkey } from '../../domain/credentials/passkey.entity.ts';
import type { Actor } from '../../domain/kernel/actor.ts';
import { found, Refusal, refuse } from '../../domain/kernel/problem.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { User } from '../../domain/users/user.entity.ts';
import { type Inputs, Requires } from '../api/access.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import type { UserAction } from '../api/enums.ts';
import { errorFor } from '../api/graphql-error.ts';
import { ClientView } from '../clients/client.view.ts';
import { ChangeUsersInput } from './user-access.inputs.ts';
import { ChangedUser, UserAccess, UserDeviceView, UserHoldings } from './user-access.view.ts';

const maxUsers = 100;

type Change = (access: AccountAccess, projectId: string, userId: string, actor: Actor) => Promise<void>;

const changes: Record<UserAction, Change> = {
  activate: (access, ...about) => access.activate(...about),
  deactivate: (access, ...about) => access.deactivate(...about),
  'end-sessions': (access, ...about) => access.endSessions(...about),
  'reset-factors': (access, ...about) => access.resetFactors(...about),
  erase: (access, ...about) => access.erase(...about),
};

@Resolver(() => UserDeviceView)
export class UserAccessResolver {
  @Requires('project_viewer', { about: { user: 'userId' }, scope: 'users:read' })
  @Query(() => UserAccess, { description: 'Sessions, devices, passkeys, consents and second factors of a user.' })
  async userAccess(@Arg('userId', () => ID) userId: string, @Ctx() { domain, em, projectId }: ProjectContext) {
    return domain.accountAccess.overview(em, found(await em.findOne(User, { project: projectId, id: userId }), 'user'));
  }

  @Requires('project_viewer', { about: { user: 'userId' }, scope: 'users:read' })
  @Query(() => UserHoldings, { description: 'Counts of resources that belong to a user.' })
  async userHoldings(
    @Arg('userId', () => ID) userId: string,
    @Ctx() { em, projectId }: ProjectContext,
  ): Promise<UserHoldings> {
    const user = found(await em.findOne(User, { project: projectId, id: userId }), 'user');
    const counts = await countHoldings(em, user);
    const count = (name: string) => counts.get(name) ?? 0;
    return {
      sessions: count('sessions'),
      devices: count('devices'),
      passkeys: count('passkeys'),
      secondFactors: count('secondFactors'),
      recoveryCodes: count('recoveryCodes'),
      groups: count('groups'),
      messages: count('messages'),
      events: count('eventsAbout') + count('eventsBy'),
      adminRoles: count('adminRoles'),
    };
  }

  @Requires('project_admin', { about: { project: 'projectId' }, fresh: isIrreversible, scope: 'users:write' })
  @Mutation(() => [ChangedUser], {
    description: 'Applies an action to several users, one after the other; returns a result for each.',
  })
  async changeUsers(@Arg('input', () => ChangeUsersInput) input: ChangeUsersInput, @Ctx() ctx: AdminContext) {
    const { projectId, action } = input;
    const userIds = [...new Set(input.userIds)];
    if (userIds.length === 0 || userIds.length > maxUsers) {
      refuse({ code: 'invalid', field: 'userIds', reason: `must be from 1 to ${maxUsers}` });
    }
    const outcomes: ChangedUser[] = [];
    for (const userId of userIds) {
      try {
        await changes[action](ctx.domain.accountAccess, projectId, userId, ctx.actor);
        outcomes.push({ userId, done: true, code: null, message: null });
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        outcomes.push({ userId, done: false, code: error.problem.code, message: errorFor(error.problem).message });
      }
    }
    return outcomes;
  }

  @Requires('project_admin', { about: { session: 'id' }, scope: 'users:write' })
  @Mutation(() => ID, {
    description: 'Ends a session and sends logout tokens to its clients. Returns the id of the session.',
  })
  async endUserSession(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, projectId }: ProjectContext) {
    await domain.accountAccess.endSession(keyIn(projectId, id), actor);
    return id;
  }

  @Requires('project_admin', { about: { device: 'id' }, fresh: true, scope: 'users:write' })
  @Mutation(() => ID, {
    description:
      'Revokes a device and ends its sessions; the next sign-in requires a code. Returns the id of the device.',
  })
  async revokeUserDevice(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, em, projectId }: ProjectContext) {
    const { user } = found(await em.findOne(Device, { project: projectId, id }), 'device');
    await domain.accountAccess.revokeDevice(projectId, user.id, id, actor);
    return id;
  }

  @Requires('project_admin', { about: { passkey: 'id' }, fresh: true, scope: 'users:write' })
  @Mutation(() => ID, { description: 'Revokes a passkey and ends its sessions. Returns the id of the passkey.' })
  async revokeUserPasskey(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, em, projectId }: ProjectContext) {
    const { user } = found(await em.findOne(Passkey, { project: projectId, id }), 'passkey');
    await domain.accountAccess.revokeDevice(projectId, user.id, id, actor);
    return id;
  }

  @FieldResolver(() => ClientView, { description: 'The client with which it was registered.' })
  async client(@Root() device: Device, @Ctx() { loaders }: AdminContext) {
    return found(await loaders.client(keyIn(device.project.id, device.client.id)), 'client');
  }
}

/** Permanently ends device keys, factors or the whole user. */
function isIrreversible(inputs: Inputs): boolean {
  return ['deactivate', 'erase', 'reset-factors'].includes(String(inputs['action']));
}
