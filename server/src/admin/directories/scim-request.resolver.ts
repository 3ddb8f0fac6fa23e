import { Arg, Ctx, ID, Int, Query, Resolver } from 'type-graphql';
import { Requires } from '../api/access.ts';
import { connection, pageRequest } from '../api/connection.ts';
import type { AdminContext } from '../api/context.ts';
import { ScimRequestConnection, ScimRequestView } from './scim-request.view.ts';

@Resolver(() => ScimRequestView)
export class ScimRequestResolver {
  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'projects:read' })
  @Query(() => ScimRequestConnection, {
    description: 'Recent SCIM requests, newest first: the last few hundred of a week.',
  })
  async scimRequests(
    @Arg('projectId', () => ID) projectId: string,
    @Ctx() { domain }: AdminContext,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const request = pageRequest('scimRequests', { first, after });
    const items = await domain.requestRecords.recent(projectId, request.first + 1, request.after ?? undefined);
    const page = { items: items.slice(0, request.first), hasNextPage: items.length > request.first };
    return connection('scimRequests', page, request);
  }
}
