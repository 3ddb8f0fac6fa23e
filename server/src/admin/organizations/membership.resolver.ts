import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { found, invalid } from '../../domain/kernel/problem.ts';
import { organizationRolesOfGroup } from '../../domain/organizations/groups/group-roles.ts';
import {
  countMembershipsOf,
  countMembersOf,
  membershipsOf,
  membersOf,
} from '../../domain/organizations/membership-lists.ts';
import type { OrganizationMembership } from '../../domain/organizations/organization-membership.entity.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import type { Group } from '../../domain/users/group.entity.ts';
import type { User } from '../../domain/users/user.entity.ts';
import { Requires } from '../api/access.ts';
import { connection, pageRequest } from '../api/connection.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import { GroupView } from '../users/group.view.ts';
import { UserView } from '../users/user.view.ts';
import { OrganizationMembershipConnection, OrganizationMembershipView } from './membership.view.ts';
import {
  AddOrganizationMemberInput,
  AssignOrganizationRoleInput,
  UnassignOrganizationRoleInput,
  UpdateOrganizationMemberInput,
} from './organization.inputs.ts';
import { OrganizationRoleView, OrganizationView } from './organization.view.ts';

@Resolver(() => OrganizationMembershipView)
export class OrganizationMembershipResolver {
  @Requires('project_viewer', { about: { 'organization-membership': 'id' }, scope: 'users:read' })
  @Query(() => OrganizationMembershipView, { nullable: true })
  async organizationMembership(@Arg('id', () => ID) id: string, @Ctx() { domain, em, projectId }: ProjectContext) {
    return domain.memberships.get(em, keyIn(projectId, id));
  }

  @Requires('project_viewer', { about: { organization: 'organizationId' }, scope: 'users:read' })
  @Query(() => OrganizationMembershipConnection, {
    description: 'The members of an organization, newest first. `users` with `filter.organizationId` searches them.',
  })
  async organizationMembers(
    @Arg('organizationId', () => ID) organizationId: string,
    @Ctx() { em, projectId }: ProjectContext,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const request = pageRequest('organization-members', { first, after });
    const key = keyIn(projectId, organizationId);
    return connection('organization-members', await membersOf(em, key, request), request, () =>
      countMembersOf(em, key),
    );
  }

  // Fresh, like `assignRole`: members get rights.
  @Requires('project_admin', { about: { organization: 'organizationId' }, fresh: true, scope: 'users:write' })
  @Mutation(() => OrganizationMembershipView)
  addOrganizationMember(
    @Arg('input', () => AddOrganizationMemberInput) { organizationId, userId, roleKeys }: AddOrganizationMemberInput,
    @Ctx() { actor, domain, projectId }: ProjectContext,
  ) {
    const member = { userId, ...(roleKeys ? { roleKeys } : {}) };
    return domain.memberships.add(keyIn(projectId, organizationId), member, actor);
  }

  @Requires('project_admin', { about: { 'organization-membership': 'id' }, fresh: true, scope: 'users:write' })
  @Mutation(() => OrganizationMembershipView, { description: 'Suspends or activates a member.' })
  updateOrganizationMember(
    @Arg('input', () => UpdateOrganizationMemberInput) { id, state }: UpdateOrganizationMemberInput,
    @Ctx() { actor, domain, projectId }: ProjectContext,
  ) {
    return domain.memberships.setState(keyIn(projectId, id), state, actor);
  }

  @Requires('project_admin', { about: { 'organization-membership': 'id' }, scope: 'users:write' })
  @Mutation(() => ID, {
    description: 'Ends a membership, and the tokens of the user in the organization. The user stays. Returns its id.',
  })
  async removeOrganizationMember(
    @Arg('id', () => ID, { description: 'Of the membership.' }) id: string,
    @Ctx() { actor, domain, projectId }: ProjectContext,
  ) {
    await domain.memberships.remove(keyIn(projectId, id), actor);
    return id;
  }

  @Requires('project_admin', {
    about: { 'organization-membership': 'membershipId', group: 'groupId' },
    fresh: true,
    scope: 'users:write',
  })
  @Mutation(() => OrganizationMembershipView, {
    nullable: true,
    description:
      'Applies to the next token. Repeating it changes nothing. Returns the membership, or null for a group.',
  })
  assignOrganizationRole(
    @Arg('input', () => AssignOrganizationRoleInput) { groupId, membershipId, roleKey }: AssignOrganizationRoleInput,
    @Ctx() { actor, domain, projectId }: ProjectContext,
  ) {
    const holder = holderIn(projectId, membershipId, groupId);
    return domain[holder.of].assign(holder.key, roleKey, actor);
  }

  @Requires('project_admin', {
    about: { 'organization-membership': 'membershipId', group: 'groupId' },
    scope: 'users:write',
  })
  @Mutation(() => OrganizationMembershipView, {
    nullable: true,
    description:
      'Applies to the next token. Repeating it changes nothing. Returns the membership, or null for a group.',
  })
  unassignOrganizationRole(
    @Arg('input', () => UnassignOrganizationRoleInput) {
      groupId,
      membershipId,
      roleKey,
    }: UnassignOrganizationRoleInput,
    @Ctx() { actor, domain, projectId }: ProjectContext,
  ) {
    const holder = holderIn(projectId, membershipId, groupId);
    return domain[holder.of].unassign(holder.key, roleKey, actor);
  }

  @FieldResolver(() => OrganizationView)
  async organization(@Root() { project, organization }: OrganizationMembership, @Ctx() { loaders }: AdminContext) {
    return found(await loaders.organization(keyIn(project.id, organization.id)), 'organization');
  }

  @FieldResolver(() => UserView)
  async user(@Root() { project, user }: OrganizationMembership, @Ctx() { loaders }: AdminContext) {
    return found(await loaders.user(keyIn(project.id, user.id)), 'user');
  }

  @FieldResolver(() => Boolean, {
    description: 'Whether the organization is the home of the user: the membership ends only with it.',
  })
  async isHome(@Root() { project, organization, user }: OrganizationMembership, @Ctx() { loaders }: AdminContext) {
    const { organizationId } = found(await loaders.user(keyIn(project.id, user.id)), 'user');
    return organizationId === organization.id;
  }

  @FieldResolver(() => [OrganizationRoleView], { description: 'By name.' })
  async roles(@Root() membership: OrganizationMembership, @Ctx() { loaders }: AdminContext) {
    return (await loaders.rolesOfMember(membership)) ?? [];
  }
}

@Resolver(() => UserView)
export class UserMembershipsResolver {
  @FieldResolver(() => OrganizationView, {
    nullable: true,
    description: 'The organization that is the home of the user. Absent: the project.',
  })
  async home(@Root() { organizationId, project }: User, @Ctx() { loaders }: AdminContext) {
    return organizationId == null ? null : loaders.organization(keyIn(project.id, organizationId));
  }

  @FieldResolver(() => OrganizationMembershipConnection, {
    description: 'The memberships in organizations, newest first.',
  })
  async organizationMemberships(
    @Root() user: { id: string; project: { id: string } },
    @Ctx() { em }: AdminContext,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const request = pageRequest('organization-memberships', { first, after });
    const page = await membershipsOf(em, user, request);
    return connection('organization-memberships', page, request, () => countMembershipsOf(em, user));
  }
}

@Resolver(() => GroupView)
export class GroupOrganizationResolver {
  @FieldResolver(() => OrganizationView, {
    nullable: true,
    description: 'The organization of whose directory the group is. Absent: a group of the project.',
  })
  async organization(@Root() { organizationId, project }: Group, @Ctx() { loaders }: AdminContext) {
    return organizationId == null ? null : loaders.organization(keyIn(project.id, organizationId));
  }

  @FieldResolver(() => [OrganizationRoleView], {
    description: 'Roles that its members have in the organization, by name.',
  })
  organizationRoles(@Root() group: Group, @Ctx() { em }: AdminContext) {
    return organizationRolesOfGroup(em, group);
  }
}

/** The membership or the group that an input names. Refuses `invalid` unless it names one. */
function holderIn(projectId: string, membershipId: string | null | undefined, groupId: string | null | undefined) {
  if ((membershipId == null) === (groupId == null)) invalid('membershipId', 'must be given, or groupId');
  return membershipId == null
    ? ({ of: 'groupRoles', key: keyIn(projectId, groupId ?? '') } as const)
    : ({ of: 'memberships', key: keyIn(projectId, membershipId) } as const);
}
