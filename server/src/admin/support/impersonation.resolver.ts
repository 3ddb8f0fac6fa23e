import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { allows } from '../../domain/admins/permission.ts';
import { found, refuse } from '../../domain/kernel/problem.ts';
import { inAllProjects } from '../../domain/kernel/scope.ts';
import { keyIn, type TenantKey } from '../../domain/projects/tenant.ts';
import { Session } from '../../domain/sessions/session.entity.ts';
import type { RunningImpersonation } from '../../domain/support/impersonations.ts';
import { User } from '../../domain/users/user.entity.ts';
import { Requires } from '../api/access.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import { ClientView } from '../clients/client.view.ts';
import { UserView } from '../users/user.view.ts';
import { UserAccess, UserSessionView } from '../users/user-access.view.ts';
import { BeginImpersonationInput, BegunImpersonationView, ImpersonationView } from './impersonation.view.ts';

/** A running impersonation, with the project that decides who may see it. */
interface Shown extends Omit<RunningImpersonation['session'], 'user' | 'impersonation'> {
  userId: string;
  reason: string;
  clientId: string;
  adminId: string;
}

@Resolver(() => ImpersonationView)
export class ImpersonationResolver {
  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'users:read' })
  @Query(() => [ImpersonationView], {
    description: 'The running impersonations of a project, newest first; at most 100.',
  })
  async impersonations(@Arg('projectId', () => ID) projectId: string, @Ctx() { domain, em }: AdminContext) {
    const running = await domain.impersonations.running(em, projectId);
    return running.map(({ session: { id, project, user, createdAt, expiresAt }, impersonation }) => {
      const { adminId, clientId, reason } = impersonation;
      return { id, project, userId: user.id, createdAt, expiresAt, adminId, clientId, reason };
    });
  }

  @Requires('project_viewer', { about: { user: 'userId' }, fresh: true })
  @Mutation(() => BegunImpersonationView, {
    description:
      'Begins to use an application as a user. Only for admins with the right, in a session that began with a passkey. The user gets a mail, unless the project turns it off.',
  })
  async beginImpersonation(
    @Arg('input', () => BeginImpersonationInput) input: BeginImpersonationInput,
    @Ctx() { actor, caller, domain, projectId }: ProjectContext,
  ): Promise<BegunImpersonationView> {
    const { amr, freshAt, id: adminId, kind } = caller;
    if (kind !== 'admin' || adminId === undefined || !amr || !freshAt) {
      refuse({ code: 'forbidden', reason: 'it requires an admin who is signed in to the console' });
    }
    const { organizationId, ...wanted } = input;
    const of = { ...wanted, organizationId: organizationId ?? undefined };
    return domain.impersonations.begin(projectId, of, { adminId, amr, freshAt }, actor);
  }

  @Requires('project_viewer', { about: { session: 'id' }, scope: 'users:write' })
  @Mutation(() => ID, {
    description: 'Ends an impersonation and sends a logout token to its application. Returns its id.',
  })
  async endImpersonation(
    @Arg('id', () => ID) id: string,
    @Ctx() { actor, caller, domain, em, projectId }: ProjectContext,
  ) {
    const session = await em.findOne(Session, { project: projectId, id });
    const isOwn = session?.impersonation?.adminId === caller.id;
    if (!isOwn && !allows(caller.grants, 'project_admin', projectId)) {
      refuse({ code: 'forbidden', reason: 'it requires the role project_admin, or to have begun it' });
    }
    await domain.impersonations.end(keyIn(projectId, id), actor);
    return id;
  }

  @FieldResolver(() => UserView, { description: 'The user.' })
  async user(@Root() { project, userId }: Shown, @Ctx() { loaders }: AdminContext) {
    return found(await loaders.user(keyIn(project.id, userId)), 'user');
  }

  @FieldResolver(() => ClientView, { nullable: true, description: 'The application; absent: it was deleted.' })
  async client(@Root() { project, clientId }: Shown, @Ctx() { loaders }: AdminContext) {
    return (await loaders.client(keyIn(project.id, clientId))) ?? null;
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: 'The address of the admin; absent: the account was erased.',
  })
  async admin(@Root() { adminId }: Shown, @Ctx() { db }: AdminContext): Promise<string | null> {
    const read = () => db.reader().findOne(User, { id: adminId, project: { builtIn: 'console' } });
    const admin = await inAllProjects(read);
    return admin && (admin.email ?? admin.userName);
  }
}

@Resolver(() => UserSessionView)
export class ImpersonatedSessionResolver {
  @FieldResolver(() => String, {
    nullable: true,
    description: "The reason of an impersonation; absent: the user's own session.",
  })
  impersonationReason(@Root() { impersonation }: Session): string | null {
    return impersonation?.reason ?? null;
  }
}

@Resolver(() => UserAccess)
export class UserImpersonationResolver {
  @FieldResolver(() => Boolean, { description: 'Whether the caller may use applications as this user.' })
  async mayImpersonate(@Root() { user }: { user: User }, @Ctx() { caller, domain }: AdminContext): Promise<boolean> {
    if (caller.kind !== 'admin' || caller.id === undefined || !user.active) return false;
    return domain.impersonations.mayBegin(user.project as TenantKey['project'], caller.id);
  }
}
