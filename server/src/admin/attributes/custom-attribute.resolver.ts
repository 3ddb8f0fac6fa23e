import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { found } from '../../domain/kernel/problem.ts';
import type { CustomAttributeInput } from '../../domain/users/custom/definition.ts';
import { shownCustomValues } from '../../domain/users/custom/own-values.ts';
import { User } from '../../domain/users/user.entity.ts';
import { type Inputs, Requires } from '../api/access.ts';
import { type AdminContext, type ProjectContext, withoutNulls } from '../api/context.ts';
import { UserView } from '../users/user.view.ts';
import {
  CreateCustomAttributeInput,
  UpdateCustomAttributeInput,
  UpdateCustomValuesInput,
} from './custom-attribute.inputs.ts';
import { CustomAttributeView, CustomValueView } from './custom-attribute.view.ts';

/** Attributes that a project has added to its users, and their values. */
@Resolver(() => UserView)
export class CustomAttributeResolver {
  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'users:read' })
  @Query(() => [CustomAttributeView], { description: 'At most 100, in the order of their creation.' })
  async customAttributes(@Arg('projectId', () => ID) projectId: string, @Ctx() { domain }: AdminContext) {
    return (await domain.customAttributes.current(projectId)).attributes;
  }

  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'users:read' })
  @Query(() => Int, { description: 'The number of users with a value.' })
  customAttributeUsers(
    @Arg('projectId', () => ID) projectId: string,
    @Arg('name', () => String) name: string,
    @Ctx() { domain }: AdminContext,
  ) {
    return domain.customAttributes.countValues(projectId, name);
  }

  @Requires('project_admin', { about: { project: 'projectId' }, fresh: changesClaims, scope: 'users:write' })
  @Mutation(() => CustomAttributeView, { description: 'Applies to the next request of a directory.' })
  createCustomAttribute(
    @Arg('input', () => CreateCustomAttributeInput) { projectId, ...input }: CreateCustomAttributeInput,
    @Ctx() { actor, domain }: AdminContext,
  ) {
    return domain.customAttributes.create(projectId, definitionOf(input) as CustomAttributeInput, actor);
  }

  @Requires('project_admin', { about: { project: 'projectId' }, fresh: changesClaims, scope: 'users:write' })
  @Mutation(() => CustomAttributeView)
  updateCustomAttribute(
    @Arg('input', () => UpdateCustomAttributeInput) { projectId, name, ...input }: UpdateCustomAttributeInput,
    @Ctx() { actor, domain }: AdminContext,
  ) {
    return domain.customAttributes.update(projectId, name, definitionOf(input), actor);
  }

  @Requires('project_admin', { about: { project: 'projectId' }, fresh: true, scope: 'users:write' })
  @Mutation(() => Int, { description: 'Also deletes its values. Returns the number of users who had one.' })
  deleteCustomAttribute(
    @Arg('projectId', () => ID) projectId: string,
    @Arg('name', () => String) name: string,
    @Ctx() { actor, domain }: AdminContext,
  ) {
    return domain.customAttributes.delete(projectId, name, actor);
  }

  /** Applications may read rights from them, as from roles. */
  @Requires('project_admin', { about: { user: 'id' }, fresh: true, scope: 'users:write' })
  @Mutation(() => UserView)
  async updateCustomValues(
    @Arg('input', () => UpdateCustomValuesInput) { id, values }: UpdateCustomValuesInput,
    @Ctx() { actor, domain, em, projectId }: ProjectContext,
  ) {
    const edit = Object.fromEntries(values.map(({ name, value }) => [name, value ?? null]));
    await domain.userEdits.editCustom(projectId, id, edit, actor);
    return found(await em.findOne(User, { project: projectId, id }), 'user');
  }

  @FieldResolver(() => [CustomValueView], { description: 'Every custom attribute of the project.' })
  async customValues(@Root() user: User, @Ctx() { loaders }: AdminContext) {
    return shownCustomValues(found(await loaders.customSchemaOf(user.project.id), 'project'), user);
  }
}

/** Mapped claims have values from then on, as after `updateClaimSettings`. */
function changesClaims({ visibleTo }: Inputs): boolean {
  return Array.isArray(visibleTo) && visibleTo.includes('applications');
}

function definitionOf(input: Omit<UpdateCustomAttributeInput, 'projectId' | 'name'> & { name?: string }) {
  const { subAttributes, ...fields } = withoutNulls(input);
  return {
    ...fields,
    ...(subAttributes
      ? { subAttributes: subAttributes.map(({ name, type, ...part }) => ({ name, type, ...withoutNulls(part) })) }
      : {}),
  };
}
