import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { LogStream } from '../../domain/streams/log-stream.entity.ts';
import { shownTarget } from '../../domain/streams/log-streams.ts';
import { Requires } from '../api/access.ts';
import { type AdminContext, withoutNulls } from '../api/context.ts';
import { CreateLogStreamInput, UpdateLogStreamInput } from './log-stream.inputs.ts';
import { LogStreamLagView, LogStreamView } from './log-stream.view.ts';

const allProjects = { ofInstance: 'its log has the events of all projects' };

/** Applications read log streams only: the owner of a target receives all events. */
@Resolver(() => LogStreamView)
export class LogStreamResolver {
  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'projects:read', allProjects })
  @Query(() => [LogStreamView], {
    description: 'The log streams of a project, oldest first; without `projectId` those of the instance. At most 10.',
  })
  logStreams(
    @Ctx() { domain, em, projectId }: AdminContext,
    @Arg('projectId', () => ID, { nullable: true }) _projectId?: string | null,
  ) {
    return domain.logStreams.list(em, projectId);
  }

  @Requires('project_viewer', { about: { 'log-stream': 'id' }, scope: 'projects:read', allProjects })
  @Query(() => LogStreamView)
  logStream(@Arg('id', () => ID) id: string, @Ctx() { domain, em, projectId }: AdminContext) {
    return domain.logStreams.get(em, { projectId, id });
  }

  // Not for applications, which cannot create streams either.
  @Requires('project_admin', { about: { 'log-stream': 'id' }, allProjects })
  @Query(() => String, { description: 'The target, which may contain a token of the receiver: not for viewers.' })
  async logStreamTarget(@Arg('id', () => ID) id: string, @Ctx() { domain, em, projectId }: AdminContext) {
    return (await domain.logStreams.get(em, { projectId, id })).target;
  }

  @Requires('project_admin', { about: { project: 'projectId' }, fresh: true, allProjects })
  @Mutation(() => LogStreamView, { description: 'It receives the events from now on.' })
  createLogStream(@Arg('input', () => CreateLogStreamInput) input: CreateLogStreamInput, @Ctx() ctx: AdminContext) {
    const { kind, target, types, description, format, gzip, header, secret } = input;
    const settings = {
      ...{ target, types: types ?? [], description: description ?? '' },
      ...{ format: format ?? 'json-lines', gzip: gzip ?? false, header: header ?? null, secret: secret ?? null },
    } as const;
    return ctx.domain.logStreams.create(ctx.projectId, kind, settings, ctx.actor);
  }

  @Requires('project_admin', { about: { 'log-stream': 'id' }, fresh: true, allProjects })
  @Mutation(() => LogStreamView, { description: 'Also pauses and resumes.' })
  updateLogStream(@Arg('input', () => UpdateLogStreamInput) input: UpdateLogStreamInput, @Ctx() ctx: AdminContext) {
    const { id, header, secret, ...settings } = input;
    const isSet = header !== undefined || secret !== undefined;
    const changes = { ...withoutNulls(settings), ...(isSet && { header: header ?? null, secret: secret ?? null }) };
    return ctx.domain.logStreams.update({ projectId: ctx.projectId, id }, changes, ctx.actor);
  }

  @Requires('project_admin', { about: { 'log-stream': 'id' }, fresh: true, allProjects })
  @Mutation(() => ID, { description: 'Returns its id.' })
  async deleteLogStream(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, projectId }: AdminContext) {
    await domain.logStreams.remove({ projectId, id }, actor);
    return id;
  }

  @Requires('project_admin', { about: { 'log-stream': 'id' }, allProjects })
  @Mutation(() => ID, {
    description:
      'Sends the event `log-stream.tested`, regardless of its filter. Returns the id of the event. Refused if paused.',
  })
  async testLogStream(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, projectId }: AdminContext) {
    return (await domain.logStreams.test({ projectId, id }, actor)).id;
  }

  @FieldResolver(() => String, { description: 'Scheme, host and port of the target, or the name of the file.' })
  receiver(@Root() stream: LogStream) {
    return shownTarget(stream);
  }

  @FieldResolver(() => LogStreamLagView)
  lag(@Root() stream: LogStream, @Ctx() { domain }: AdminContext) {
    return domain.logStreams.lag(stream);
  }
}
