import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { type Connection, settingsOf } from '../../domain/connections/connection.entity.ts';
import { copiedFrom, enteredAt, guideOf } from '../../domain/connections/guides.ts';
import { countIdentities } from '../../domain/connections/identities.ts';
import { invalid } from '../../domain/kernel/problem.ts';
import type { Organization } from '../../domain/organizations/organization.entity.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { readCertificate } from '../../domain/saml/security/certificate.ts';
import { Requires } from '../api/access.ts';
import { type AdminContext, type ProjectContext, withoutNulls } from '../api/context.ts';
import { OrganizationView } from '../organizations/organization.view.ts';
import { CreateConnectionInput, SetConnectionStateInput, UpdateConnectionInput } from './connection.inputs.ts';
import {
  ConnectionCallback,
  ConnectionFailure,
  ConnectionGuide,
  ConnectionTest,
  ConnectionView,
  CreatedConnection,
  OidcConnectionView,
  SamlConnectionView,
} from './connection.view.ts';

/** Applications can only read connections: a provider determines who signs in. */
@Resolver(() => ConnectionView)
export class ConnectionResolver {
  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'projects:read' })
  @Query(() => [ConnectionView], {
    description:
      'The connections of a project itself, oldest first; at most 50. `connections` of an organization has others.',
  })
  connections(@Arg('projectId', () => ID) projectId: string, @Ctx() { domain, em }: AdminContext) {
    return domain.connections.list(em, projectId);
  }

  @Requires('project_viewer', { about: { connection: 'id' }, scope: 'projects:read' })
  @Query(() => ConnectionView)
  connection(@Arg('id', () => ID) id: string, @Ctx() { domain, em, projectId }: ProjectContext) {
    return domain.connections.get(em, keyIn(projectId, id));
  }

  @Requires('project_admin', { about: { organization: 'organizationId', project: 'projectId' }, fresh: true })
  @Mutation(() => CreatedConnection, {
    description:
      'Creates a draft: enable it after a successful test. Its redirect URI is known then; `oidc` may follow.',
  })
  async createConnection(
    @Arg('input', () => CreateConnectionInput) input: CreateConnectionInput,
    @Ctx() ctx: AdminContext,
  ) {
    const { projectId: ofProject, organizationId, kind, preset, name, ...rest } = input;
    if ((ofProject == null) === (organizationId == null)) invalid('projectId', 'must be given, or organizationId');
    const of = { projectId: ctx.projectId ?? '', organizationId: organizationId ?? undefined };
    const wanted = { ...withoutNulls(rest), ...of, kind, name, preset: preset ?? 'generic' };
    const connection = await ctx.domain.connections.create(wanted, ctx.actor);
    return { connection, callback: ctx.domain.connections.callback(connection) };
  }

  @Requires('project_admin', { about: { connection: 'id' }, fresh: true })
  @Mutation(() => ConnectionView, { description: 'Refuses tests and sign-ins that began with the former settings.' })
  updateConnection(
    @Arg('input', () => UpdateConnectionInput) { id, ...change }: UpdateConnectionInput,
    @Ctx() ctx: ProjectContext,
  ) {
    return ctx.domain.connections.update(keyIn(ctx.projectId, id), withoutNulls(change), ctx.actor);
  }

  @Requires('project_admin', { about: { connection: 'id' }, fresh: true })
  @Mutation(() => ConnectionView, { description: 'Disabling refuses sign-ins in progress; sessions stay.' })
  setConnectionState(
    @Arg('input', () => SetConnectionStateInput) { id, state }: SetConnectionStateInput,
    @Ctx() ctx: ProjectContext,
  ) {
    return ctx.domain.connections.setState(keyIn(ctx.projectId, id), state, ctx.actor);
  }

  @Requires('project_admin', { about: { connection: 'id' } })
  @Mutation(() => ConnectionTest, { description: 'Prepares a test sign-in.' })
  async testConnection(@Arg('id', () => ID) id: string, @Ctx() { domain, em, projectId }: ProjectContext) {
    const connection = await domain.connections.get(em, keyIn(projectId, id));
    const state = await domain.upstreamSignIns.prepareTest(connection);
    return { url: domain.connections.testAddress(id, state) };
  }

  @Requires('project_admin', { about: { connection: 'id' }, fresh: true })
  @Mutation(() => ID, { description: 'Deletes a connection with the identities of its users. Returns its id.' })
  async deleteConnection(@Arg('id', () => ID) id: string, @Ctx() ctx: ProjectContext) {
    await ctx.domain.connections.remove(keyIn(ctx.projectId, id), ctx.actor);
    return id;
  }

  @FieldResolver(() => OidcConnectionView, { nullable: true, description: 'Null for other kinds.' })
  oidc(@Root() connection: Connection) {
    return connection.kind === 'oidc' ? settingsOf(connection, 'oidc') : null;
  }

  @FieldResolver(() => SamlConnectionView, { nullable: true, description: 'Null for other kinds.' })
  saml(@Root() connection: Connection) {
    if (connection.kind !== 'saml') return null;
    const { certificates, ...settings } = settingsOf(connection, 'saml');
    const { metadataCheckedAt, metadataFault } = connection;
    return { ...settings, metadataCheckedAt, metadataFault, certificates: certificates.map(readCertificate) };
  }

  @FieldResolver(() => OrganizationView, { nullable: true, description: 'Null: it belongs to the project.' })
  async organization(@Root() { organizationId, project }: Connection, @Ctx() { loaders }: AdminContext) {
    return organizationId == null ? null : loaders.organization(keyIn(project.id, organizationId));
  }

  @FieldResolver(() => ConnectionGuide)
  guide(@Root() connection: Connection, @Ctx() { domain }: AdminContext) {
    const { place } = guideOf(connection);
    return {
      place,
      enter: enteredAt(connection, domain.connections.callback(connection)),
      copy: copiedFrom(connection),
    };
  }

  @FieldResolver(() => ConnectionCallback)
  callback(@Root() connection: Connection, @Ctx() { domain }: AdminContext) {
    return domain.connections.callback(connection);
  }

  @FieldResolver(() => Boolean, { description: 'Whether a client secret is stored.' })
  hasSecret(@Root() { sealedSecret }: Connection) {
    return sealedSecret != null;
  }

  @FieldResolver(() => [ConnectionFailure])
  failures(@Root() { failures }: Connection) {
    return Object.entries(failures).map(([reason, count]) => ({ reason, count }));
  }

  @FieldResolver(() => Int, { description: 'Users who have signed in by it, counted up to 1,000.' })
  identities(@Root() connection: Connection, @Ctx() { em }: AdminContext) {
    return countIdentities(em, connection);
  }
}

@Resolver(() => OrganizationView)
export class ConnectionsOfOrganizationResolver {
  @FieldResolver(() => [ConnectionView], {
    description: 'Identity providers of the organization, oldest first; at most 10.',
  })
  async connections(@Root() organization: Organization, @Ctx() { loaders }: AdminContext) {
    return (await loaders.connectionsOfOrganization(organization)) ?? [];
  }
}
