import { Arg, Ctx, FieldResolver, ID, Int, Query, Resolver, Root } from 'type-graphql';
import { type AuditEvent, instanceId } from '../../domain/audit/audit-event.entity.ts';
import { listEventGroups } from '../../domain/audit/event-groups.ts';
import { listEvents } from '../../domain/audit/events.ts';
import { invalid } from '../../domain/kernel/problem.ts';
import { isUuid } from '../../domain/kernel/secret.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { Requires } from '../api/access.ts';
import { connection, pageRequest } from '../api/connection.ts';
import { type AdminContext, withoutNulls } from '../api/context.ts';
import { ClientView } from '../clients/client.view.ts';
import { ProjectView } from '../projects/project.view.ts';
import { AuditEventFilter } from './audit-event.inputs.ts';
import {
  AuditActor,
  AuditEventConnection,
  AuditEventGroupConnection,
  AuditEventView,
  AuditPerson,
  AuditSubject,
} from './audit-event.view.ts';
import { eventFilter } from './event-filter.ts';

@Resolver(() => AuditEventView)
export class AuditResolver {
  @Requires('project_viewer', {
    about: { organization: 'organizationId', project: 'projectId' },
    allProjects: { ofInstance: 'it lists the events of all projects' },
    scope: 'audit:read',
  })
  @Query(() => AuditEventConnection, {
    description: 'Newest first. Without a project or organization: the whole instance, for owners only.',
  })
  async auditEvents(
    @Ctx() { em, projectId: of }: AdminContext,
    @Arg('projectId', () => ID, { nullable: true }) projectId?: string | null,
    @Arg('filter', () => AuditEventFilter, { nullable: true }) filter?: AuditEventFilter | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
    @Arg('organizationId', () => ID, { nullable: true, description: 'In place of the project.' })
    organizationId?: string | null,
  ) {
    if (projectId != null && organizationId != null) invalid('projectId', 'must be given, or organizationId');
    const wanted = eventFilter(withoutNulls({ ...filter, ...(organizationId != null && { organizationId }) }));
    const request = pageRequest('auditEvents', { first, after });
    const page = await listEvents(em, of, wanted, request);
    return connection('auditEvents', page, request);
  }

  @Requires('project_viewer', {
    about: { project: 'projectId' },
    allProjects: { ofInstance: 'it lists the events of all projects' },
    scope: 'audit:read',
  })
  @Query(() => AuditEventGroupConnection, {
    description:
      'Like `auditEvents`, but with the events of one sign-in as one item. Without a project: the whole instance, for owners only.',
  })
  async auditEventGroups(
    @Ctx() { em }: AdminContext,
    @Arg('projectId', () => ID, { nullable: true }) projectId?: string | null,
    @Arg('filter', () => AuditEventFilter, { nullable: true }) filter?: AuditEventFilter | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const wanted = eventFilter(withoutNulls(filter ?? {}));
    const request = pageRequest('auditEventGroups', { first, after });
    const page = await listEventGroups(em, projectId ?? null, wanted, request);
    return connection('auditEventGroups', page, request);
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

  @FieldResolver(() => AuditPerson, {
    nullable: true,
    description: 'The user, also of a device, passkey or session. Absent if there is none or the user was erased.',
  })
  async person(@Root() { subjectKind, subjectId, detail, projectId }: AuditEvent, @Ctx() { loaders }: AdminContext) {
    const id = subjectKind === 'user' ? subjectId : detail?.['userId'];
    const user = isUuid(id) ? await loaders.user(keyIn(projectId, id)) : undefined;
    return user ? { id: user.id, name: user.displayName ?? user.userName } : null;
  }

  @FieldResolver(() => ClientView, { nullable: true, description: 'Absent if there is none or it was deleted.' })
  async client(@Root() event: AuditEvent, @Ctx() { loaders }: AdminContext) {
    const { clientId, projectId } = event;
    return clientId ? ((await loaders.client(keyIn(projectId, clientId))) ?? null) : null;
  }

  @FieldResolver(() => ProjectView, { nullable: true, description: 'Absent for events of the instance.' })
  async project(@Root() event: AuditEvent, @Ctx() { loaders }: AdminContext) {
    return event.projectId === instanceId ? null : ((await loaders.project(event.projectId)) ?? null);
  }
}
