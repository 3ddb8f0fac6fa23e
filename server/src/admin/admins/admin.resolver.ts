import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { AdminToken } from '../../domain/admins/admin-token.entity.ts';
import type { Membership } from '../../domain/admins/membership.entity.ts';
import type { Organization } from '../../domain/organizations/organization.entity.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { Requires } from '../api/access.ts';
import { callerFreshUntil } from '../api/caller-checks.ts';
import { type AdminContext, granter } from '../api/context.ts';
import type { Loaders } from '../api/loaders.ts';
import { OrganizationView } from '../organizations/organization.view.ts';
import { ProjectView } from '../projects/project.view.ts';
import { GrantRoleInput, IssueAdminTokenInput } from './admin.inputs.ts';
import { Admin, AdminTokenView, IssuedAdminToken, Me, MembershipView } from './admin.view.ts';

@Resolver(() => Me)
export class MeResolver {
  @FieldResolver(() => Boolean, {
    description: 'The caller is a person without a passkey, and may add one at `/account`.',
  })
  async lacksPasskey(@Ctx() { caller, domain, em }: AdminContext): Promise<boolean> {
    return caller.kind === 'admin' && caller.user !== undefined && domain.accountAccess.lacksPasskey(em, caller.user);
  }
}

@Resolver(() => MembershipView)
export class MembershipResolver {
  @Requires('admin', { scope: 'profile:self' })
  @Query(() => Me, { description: 'The caller and its roles.' })
  me(@Ctx() { caller, now }: AdminContext): Me {
    const { owner, organizations, projects } = caller.grants;
    const inProjects = [...projects].map(([projectId, role]) => ({ role, projectId, organizationIds: null }));
    const inOrganizations = [...Map.groupBy(organizations, ([, projectId]) => projectId)].map(([projectId, some]) => ({
      ...{ role: 'organization_admin' as const, projectId },
      organizationIds: some.map(([id]) => id),
    }));
    return {
      kind: caller.kind,
      id: caller.id ?? null,
      name: caller.name,
      grants: owner ? [{ role: 'owner', projectId: null, organizationIds: null }] : [...inProjects, ...inOrganizations],
      scopes: caller.scopes ? [...caller.scopes] : null,
      freshUntil: callerFreshUntil(caller, now),
    };
  }

  @Requires('project_viewer', { about: { project: 'projectId' } })
  @Query(() => [MembershipView], {
    description: 'The roles in a project; without a project, the owners of the instance.',
  })
  memberships(
    @Ctx() { domain, em }: AdminContext,
    @Arg('projectId', () => ID, { nullable: true }) projectId?: string | null,
  ) {
    return domain.admins.memberships(em, projectId ?? null);
  }

  @Requires('project_admin', {
    about: { project: 'projectId' },
    fresh: true,
    allProjects: { always: 'the admin is a user of the console’s project' },
  })
  @Mutation(() => MembershipView, { description: 'Replaces an existing role in the same project.' })
  grantRole(@Arg('input', () => GrantRoleInput) input: GrantRoleInput, @Ctx() ctx: AdminContext) {
    const { email, impersonates, invite, organizationIds, projectId, role } = input;
    const of = { projectId: projectId ?? undefined, organizationIds: organizationIds ?? undefined };
    const wanted = { email, role, ...of, impersonates: impersonates === true };
    return ctx.domain.adminInvitations.grantRole(wanted, { invite: invite === true }, granter(ctx));
  }

  @Requires('project_admin', {
    about: { membership: 'id' },
    fresh: true,
    allProjects: { always: 'the admin is a user of the console’s project' },
  })
  @Mutation(() => ID, {
    description: 'Revokes a role, except that of the last owner. Returns the id of the membership.',
  })
  async revokeRole(
    @Arg('id', () => ID, { description: 'Id of the membership.' }) id: string,
    @Ctx() ctx: AdminContext,
  ) {
    await ctx.domain.admins.revokeRole(id, granter(ctx));
    return id;
  }

  @FieldResolver(() => Admin)
  admin(@Root() membership: Membership, @Ctx() { caller }: AdminContext): Admin {
    const user = membership.user.getEntity();
    const { id, active, lastSignInAt } = user;
    const known = { id, email: user.email ?? user.userName };
    // A project admin may grant roles to any address, so the account behind it stays hidden.
    if (!caller.grants.owner) return { ...known, name: null, active: null, lastSignInAt: null };
    return { ...known, active, name: user.displayName ?? user.userName, lastSignInAt: lastSignInAt ?? null };
  }

  @FieldResolver(() => ProjectView, { nullable: true, description: 'Absent for an owner.' })
  async project(@Root() membership: Membership, @Ctx() { loaders }: AdminContext) {
    return membership.project ? ((await loaders.project(membership.project.id)) ?? null) : null;
  }

  @FieldResolver(() => [OrganizationView], { nullable: true, description: 'Of ORGANIZATION_ADMIN, by name.' })
  organizations(@Root() membership: Membership, @Ctx() { loaders }: AdminContext) {
    return organizationsOf(loaders, membership);
  }
}

@Resolver(() => OrganizationView)
export class AdministeredOrganizationResolver {
  @Requires('admin', { allProjects: { always: 'an admin can have organizations of several projects' } })
  @Query(() => [OrganizationView], {
    description:
      'The organizations whose admin the caller is, by name. Those of projects in which the caller has a role are left out.',
  })
  async administeredOrganizations(@Ctx() { caller, loaders }: AdminContext) {
    const keys = [...caller.grants.organizations].map(([id, projectId]) => keyIn(projectId, id));
    return byName(await Promise.all(keys.map((key) => loaders.organization(key))));
  }
}

/** By name; null for other roles. */
async function organizationsOf(loaders: Loaders, { project, organizationIds }: Membership | AdminToken) {
  if (!project || !organizationIds) return null;
  return byName(await Promise.all(organizationIds.map((id) => loaders.organization(keyIn(project.id, id)))));
}

function byName(organizations: readonly (Organization | undefined)[]): Organization[] {
  return organizations
    .filter((one) => one !== undefined)
    .toSorted((one, other) => one.name.localeCompare(other.name, 'en'));
}

@Resolver(() => AdminTokenView)
export class AdminTokenResolver {
  @Requires('project_admin', { about: { project: 'projectId' } })
  @Query(() => [AdminTokenView], {
    description: 'The admin API tokens of a project; without a project, of the instance.',
  })
  adminTokens(
    @Ctx() { domain, em }: AdminContext,
    @Arg('projectId', () => ID, { nullable: true }) projectId?: string | null,
  ) {
    return domain.admins.tokens(em, projectId ?? null);
  }

  @Requires('project_admin', { about: { project: 'projectId' }, fresh: true })
  @Mutation(() => IssuedAdminToken)
  issueAdminToken(@Arg('input', () => IssueAdminTokenInput) input: IssueAdminTokenInput, @Ctx() ctx: AdminContext) {
    const { name, role, projectId, organizationIds, expiresAt } = input;
    const of = { projectId: projectId ?? undefined, organizationIds: organizationIds ?? undefined };
    const wanted = { name, role, ...of, expiresAt: expiresAt ?? undefined };
    return ctx.domain.admins.createToken(wanted, granter(ctx));
  }

  @Requires('project_admin', { about: { 'admin-token': 'id' } })
  @Mutation(() => AdminTokenView)
  revokeAdminToken(@Arg('id', () => ID) id: string, @Ctx() ctx: AdminContext) {
    return ctx.domain.admins.revokeToken(id, granter(ctx));
  }

  @FieldResolver(() => ProjectView, { nullable: true, description: 'Absent for an owner.' })
  async project(@Root() token: AdminToken, @Ctx() { loaders }: AdminContext) {
    return token.project ? ((await loaders.project(token.project.id)) ?? null) : null;
  }

  @FieldResolver(() => [OrganizationView], { nullable: true, description: 'Of ORGANIZATION_ADMIN, by name.' })
  organizations(@Root() token: AdminToken, @Ctx() { loaders }: AdminContext) {
    return organizationsOf(loaders, token);
  }
}
