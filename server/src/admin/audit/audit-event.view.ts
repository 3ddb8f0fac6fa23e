import { GraphQLDateTime, GraphQLJSONObject } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import type { AuditEvent } from '../../domain/audit/audit-event.entity.ts';
import { Access, ofEvent } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { ResultEnum } from '../api/enums.ts';

@Access('inherited')
@ObjectType({ description: 'The actor of an event.' })
export class AuditActor {
  @Field(() => String, { description: 'admin, admin-token, bootstrap-token, setup-link, scim, user, client, system …' })
  kind!: string;

  @Field(() => ID, { nullable: true })
  id!: string | null;

  @Field(() => String, { nullable: true })
  name!: string | null;
}

@Access('inherited')
@ObjectType({ description: 'The subject of an event.' })
export class AuditSubject {
  @Field(() => String)
  kind!: string;

  @Field(() => ID, { nullable: true })
  id!: string | null;

  @Field(() => String, { nullable: true })
  name!: string | null;
}

@Access('inherited')
@ObjectType({ description: 'The user whose account an event concerns.' })
export class AuditPerson {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;
}

@Access('project_viewer', ofEvent, 'audit:read')
@ObjectType('AuditEvent', { description: 'An action or attempted action.' })
export class AuditEventView {
  @Field(() => ID)
  id!: string;

  @Field(() => GraphQLDateTime)
  at!: Date;

  @Field(() => String, { description: '`noun.verb`, e.g. `client.created`.' })
  type!: string;

  @Field(() => ResultEnum)
  result!: AuditEvent['result'];

  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: 'Previous and new values, reasons; `signInId`: the sign-in that it is a step of. Never secrets.',
  })
  detail!: Record<string, unknown> | null;

  @Field(() => String, { nullable: true })
  ip!: string | null;

  @Field(() => String, { nullable: true })
  userAgent!: string | null;

  @Field(() => String, { nullable: true })
  requestId!: string | null;
}

export const AuditEventConnection = connectionType(AuditEventView, 'AuditEvent', false);

@Access('inherited')
@ObjectType({ description: 'The events of one sign-in, or a single other event.' })
class AuditEventGroup {
  @Field(() => ID, { description: 'Id of the event that places it in the list.' })
  id!: string;

  @Field(() => [AuditEventView], { description: 'Those that match the filter, oldest first.' })
  events!: AuditEventView[];
}

export const AuditEventGroupConnection = connectionType(AuditEventGroup, 'AuditEventGroup', false);
