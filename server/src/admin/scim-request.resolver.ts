import 'reflect-metadata';
import { GraphQLDateTime } from 'graphql-scalars';
import { Arg, Ctx, Field, ID, Int, ObjectType, Query, Resolver } from 'type-graphql';
import { connection, connectionType, pageRequest } from './connection.ts';
import type { AdminContext } from './context.ts';

@ObjectType('ScimRequest', { description: 'A request of a directory and its answer, without secrets.' })
class ScimRequestView {
  @Field(() => ID)
  id!: string;

  @Field(() => GraphQLDateTime)
  at!: Date;

  @Field(() => String, { description: 'Of the token, at the time.' })
  tokenName!: string;

  @Field(() => String)
  method!: string;

  @Field(() => String, { description: "Below the project's base address, query included." })
  path!: string;

  @Field(() => Int)
  status!: number;

  @Field(() => String, { nullable: true, description: 'RFC 7644 §3.12.' })
  scimType!: string | null;

  @Field(() => String, { nullable: true, description: 'Why it was refused.' })
  detail!: string | null;

  @Field(() => Int)
  durationMs!: number;

  @Field(() => String, { nullable: true })
  userAgent!: string | null;

  @Field(() => String, { nullable: true, description: 'Cut off where it is long.' })
  requestBody!: string | null;

  @Field(() => String, { nullable: true, description: 'Cut off where it is long; of lists only the totals.' })
  responseBody!: string | null;
}

const ScimRequestConnection = connectionType(ScimRequestView, 'ScimRequest', false);

@Resolver(() => ScimRequestView)
export class ScimRequestResolver {
  @Query(() => ScimRequestConnection, {
    description: 'What directories have sent of late, newest first: the last few hundred requests of a week.',
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
