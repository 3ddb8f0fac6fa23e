import { GraphQLJSON } from 'graphql-scalars';
import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { ApiKeyKind } from '../../domain/clients/api-key.entity.ts';
import type { Client } from '../../domain/clients/client.entity.ts';
import { clientFields } from '../../domain/clients/client.resource.ts';
import { exactTotal } from '../../domain/kernel/page.ts';
import { found } from '../../domain/kernel/problem.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { type Inputs, Requires } from '../api/access.ts';
import { connection, pageRequest } from '../api/connection.ts';
import { type AdminContext, type ProjectContext, withoutNulls } from '../api/context.ts';
import { ApiKeyKindEnum } from '../api/enums.ts';
import { changesSensitive, enumOf, settingsIn } from '../api/resource-types.ts';
import { ProjectView } from '../projects/project.view.ts';
import { CreateClientInput, UpdateClientInput } from './client.inputs.ts';
import {
  ApiKeyView,
  ClientConnection,
  ClientView,
  CreatedClient,
  IntroductionView,
  IssuedApiKey,
} from './client.view.ts';

const introducedOnly = 'True: only clients that introduced themselves; else only those that admins created.';

@Resolver(() => ClientView)
export class ClientResolver {
  @Requires('project_viewer', { about: { client: 'id' }, scope: 'clients:read' })
  @Query(() => ClientView, { nullable: true })
  async client(@Arg('id', () => ID) id: string, @Ctx() { domain, em, projectId }: ProjectContext) {
    return found(await domain.clients.find(em, keyIn(projectId, id)), 'client');
  }

  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'clients:read' })
  @Query(() => ClientConnection, { description: 'The clients of a project, newest first.' })
  async clients(
    @Arg('projectId', () => ID) projectId: string,
    @Ctx() { domain, em }: AdminContext,
    @Arg('search', () => String, { nullable: true, description: 'Part of the name, ignoring case and accents.' })
    search?: string | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
    @Arg('introduced', () => Boolean, { nullable: true, description: introducedOnly }) introduced?: boolean | null,
  ) {
    const filter = { search: search ?? undefined, introduced: introduced ?? false };
    const request = pageRequest('clients', { first, after });
    const page = await domain.clients.list(em, projectId, filter, request);
    return connection('clients', page, request, async () =>
      exactTotal(await domain.clients.count(em, projectId, filter)),
    );
  }

  @Requires('project_admin', { about: { project: 'projectId' }, fresh: true, scope: 'clients:write' })
  @Mutation(() => CreatedClient)
  createClient(@Arg('input', () => CreateClientInput) input: CreateClientInput, @Ctx() ctx: AdminContext) {
    const { projectId, name, secretKey } = input;
    const settings = settingsIn(clientFields, withoutNulls({ ...input }));
    // Null selects the project's value, and absence the default of the client.
    if (input.idTokenTtlSeconds === null) settings.idTokenTtlSeconds = null;
    const created = { ...settings, projectId, name, secretKey: secretKey ?? true };
    return ctx.domain.clients.create(created, ctx.actor, ctx.caller.scopes);
  }

  @Requires('project_admin', { about: { client: 'id' }, fresh: redirectsSecrets, scope: 'clients:write' })
  @Mutation(() => ClientView)
  updateClient(@Arg('input', () => UpdateClientInput) input: UpdateClientInput, @Ctx() ctx: ProjectContext) {
    const { id, expectedVersion } = input;
    const version = expectedVersion == null ? {} : { expectedVersion };
    const change = { ...settingsIn(clientFields, input), ...version };
    return ctx.domain.clients.update(keyIn(ctx.projectId, id), change, ctx.actor, ctx.caller.scopes);
  }

  @Requires('project_admin', { about: { client: 'id' }, fresh: true, scope: 'clients:write' })
  @Mutation(() => ID, { description: 'Also deletes its keys, devices and codes. Returns its id.' })
  async deleteClient(@Arg('id', () => ID) id: string, @Ctx() ctx: ProjectContext) {
    await ctx.domain.clients.delete(keyIn(ctx.projectId, id), ctx.actor);
    return id;
  }

  @Requires('project_admin', { about: { client: 'clientId' }, fresh: true, scope: 'clients:write' })
  @Mutation(() => IssuedApiKey, { description: 'Creates a key; existing keys stay valid until they are revoked.' })
  issueApiKey(
    @Arg('clientId', () => ID) clientId: string,
    @Arg('kind', () => ApiKeyKindEnum) kind: ApiKeyKind,
    @Ctx() ctx: ProjectContext,
  ) {
    return ctx.domain.clients.issueApiKey(keyIn(ctx.projectId, clientId), kind, ctx.actor);
  }

  @Requires('project_admin', { about: { 'api-key': 'id' }, scope: 'clients:write' })
  @Mutation(() => ApiKeyView)
  revokeApiKey(@Arg('id', () => ID) id: string, @Ctx() ctx: ProjectContext) {
    return ctx.domain.clients.revokeApiKey(keyIn(ctx.projectId, id), ctx.actor);
  }

  @FieldResolver(() => String, { description: '`client_id` in OIDC; equals `id`.' })
  clientId(@Root() client: Client) {
    return client.id;
  }

  @FieldResolver(() => GraphQLJSON, { nullable: true, description: 'A JWK Set of public keys.' })
  jwks(@Root() client: Client) {
    const keys = client.jwkSet ?? (client.jwk ? [client.jwk] : null);
    return keys && { keys };
  }

  @FieldResolver(() => enumOf(clientFields.logoutTokenType.enum))
  logoutTokenTyp(@Root() client: Client) {
    return client.logoutTokenType;
  }

  @FieldResolver(() => Boolean)
  disabled(@Root() client: Client) {
    return client.disabledAt != null;
  }

  @FieldResolver(() => IntroductionView, { nullable: true, description: 'Null for a client that an admin created.' })
  async introduction(@Root() client: Client, @Ctx() { loaders }: AdminContext) {
    return client.introducedBy == null ? null : ((await loaders.introductionOf(client)) ?? null);
  }

  @FieldResolver(() => ProjectView)
  async project(@Root() client: Client, @Ctx() { loaders }: AdminContext) {
    return found(await loaders.project(client.project.id), 'project');
  }

  @FieldResolver(() => [ApiKeyView], { description: 'Newest first, revoked ones included.' })
  async apiKeys(@Root() client: Client, @Ctx() { loaders }: AdminContext) {
    return (await loaders.apiKeysOf(client)) ?? [];
  }
}

/** Whether secrets are sent elsewhere, or rights given. */
function redirectsSecrets(inputs: Inputs): boolean {
  return changesSensitive(clientFields, inputs);
}
