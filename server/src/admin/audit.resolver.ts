import 'reflect-metadata';
import { GraphQLDateTime, GraphQLJSONObject } from 'graphql-scalars';
import { Arg, Ctx, Field, FieldResolver, ID, InputType, Int, ObjectType, Query, Resolver, Root } from 'type-graphql';
import type { AuditEvent } from '../domain/audit/audit-event.entity.ts';
import { listEvents } from '../domain/audit/events.ts';
import { ClientView } from './client.view.ts';
import { connection, connectionType, pageRequest } from './connection.ts';
import { type AdminContext, given } from './context.ts';
import { ResultEnum } from './enums.ts';
import { eventFilter } from './event-filter.ts';
import { ProjectView } from './project.view.ts';

@ObjectType({ description: 'Who did it.' })
export class AuditActor {
  @Field(() => String, { description: 'admin, admin-token, bootstrap-token, setup-link, scim, user, client, system …' })
  kind!: string;

  @Field(() => ID, { nullable: true })
  id!: string | null;

  @Field(() => String, { nullable: true })
  name!: string | null;
}

@ObjectType({ description: 'What it was done to.' })
export class AuditSubject {
  @Field(() => String)
  kind!: string;

  @Field(() => ID, { nullable: true })
  id!: string | null;

  @Field(() => String, { nullable: true })
  name!: string | null;
}

@ObjectType('AuditEvent', { description: 'One thing that somebody did, or tried to do.' })
class AuditEventView {
  @Field(() => ID)
  id!: string;

  @Field(() => GraphQLDateTime)
  at!: Date;

  @Field(() => String, { description: '`noun.verb`, e.g. `client.created`.' })
  type!: string;

  @Field(() => ResultEnum)
  result!: AuditEvent['result'];

  @Field(() => GraphQLJSONObject, { nullable: true, description: 'Before and after, reasons; never a secret.' })
  detail!: Record<string, unknown> | null;

  @Field(() => String, { nullable: true })
  ip!: string | null;

  @Field(() => String, { nullable: true })
  userAgent!: string | null;

  @Field(() => String, { nullable: true })
  requestId!: string | null;
}

const AuditEventConnection = connectionType(AuditEventView, 'AuditEvent', false);

@InputType({ description: 'What is absent is not asked.' })
export class AuditEventFilter {
  @Field(() => [String], { nullable: true, description: 'Any of these, sixty at most.' })
  types?: string[] | null;

  @Field(() => ResultEnum, { nullable: true })
  result?: AuditEvent['result'] | null;

  @Field(() => ID, { nullable: true, description: 'Done by this user or to them.' })
  userId?: string | null;

  @Field(() => ID, { nullable: true })
  actorId?: string | null;

  @Field(() => ID, { nullable: true })
  subjectId?: string | null;

  @Field(() => ID, { nullable: true, description: 'Done through this application or to it.' })
  clientId?: string | null;

  @Field(() => ID, { nullable: true, description: 'As in the `X-Request-Id` of an answer.' })
  requestId?: string | null;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'From here on.' })
  since?: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'Before this.' })
  until?: Date | null;
}

@Resolver(() => AuditEventView)
export class AuditResolver {
  @Query(() => AuditEventConnection, {
    description: 'Newest first. Without a project: all of the instance, for owners.',
  })
  async auditEvents(
    @Ctx() { em }: AdminContext,
    @Arg('projectId', () => ID, { nullable: true }) projectId?: string | null,
    @Arg('filter', () => AuditEventFilter, { nullable: true }) filter?: AuditEventFilter | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const wanted = eventFilter(given(filter ?? {}));
    const request = pageRequest('auditEvents', { first, after });
    const page = await listEvents(em, projectId ?? null, wanted, request);
    return connection('auditEvents', page, request);
  }

  @FieldResolver(() => AuditActor)
  actor(@Root() event: AuditEvent): AuditActor {
    return { kind: event.actorKind, id: event.actorId ?? null, name: event.actorName ?? null };
  }

  @FieldResolver(() => AuditSubject, { nullable: true })
  subject(@Root() event: AuditEvent): AuditSubject | null {
    if (!event.subjectKind) return null;
    return { kind: event.subjectKind, id: event.subjectId ?? null, name: event.subjectName ?? null };
  }

  @FieldResolver(() => ClientView, { nullable: true, description: 'Absent also where it was deleted since.' })
  async client(@Root() event: AuditEvent, @Ctx() { loaders }: AdminContext) {
    return event.clientId ? ((await loaders.client(event.clientId)) ?? null) : null;
  }

  @FieldResolver(() => ProjectView, { nullable: true, description: 'Absent for what concerns the whole instance.' })
  async project(@Root() event: AuditEvent, @Ctx() { loaders }: AdminContext) {
    return event.project ? ((await loaders.project(event.project.id)) ?? null) : null;
  }
}
