import { Arg, Ctx, ID, Int, Query, Resolver } from 'type-graphql';
import { Requires } from '../api/access.ts';
import { connection, pageRequest } from '../api/connection.ts';
import type { ProjectContext } from '../api/context.ts';
import { ScimRequestConnection, ScimRequestView } from './scim-request.view.ts';
import { directoryIn, eitherId } from './whose.ts';

@Resolver(() => ScimRequestView)
export class ScimRequestResolver {
  @Requires('project_viewer', { about: eitherId, scope: 'projects:read' })
  @Query(() => ScimRequestConnection, {
    description:
      'Recent SCIM requests to the directory of a project, or of an organization, newest first: the last few hundred of a week.',
  })
  async scimRequests(
    @Ctx() ctx: ProjectContext,
    @Arg('projectId', () => ID, { nullable: true }) projectId?: string | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
    @Arg('organizationId', () => ID, { nullable: true }) organizationId?: string | null,
  ) {
    const directory = directoryIn(ctx, { projectId, organizationId });
    const request = pageRequest('scimRequests', { first, after });
    const items = await ctx.domain.requestRecords.recent(directory, request.first + 1, request.after ?? undefined);
    const page = { items: items.slice(0, request.first), hasNextPage: items.length > request.first };
    return connection('scimRequests', page, request);
  }
}
