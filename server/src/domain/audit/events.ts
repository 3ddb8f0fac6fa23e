import type { FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type Page, type PageRequest, pageOf } from '../kernel/page.ts';
import { AuditEvent } from './audit-event.entity.ts';

/** Which events; what is absent is not asked. */
export interface EventFilter {
  types?: readonly string[] | undefined;
  result?: 'success' | 'failure' | undefined;
  actorId?: string | undefined;
  subjectId?: string | undefined;
  clientId?: string | undefined;
  /** From here on. */
  since?: Date | undefined;
  /** Before this. */
  until?: Date | undefined;
}

/** Newest first. @param projectId `null` for those of the instance and of all its projects */
export function listEvents(
  em: EntityManager,
  projectId: string | null,
  filter: EventFilter,
  page: PageRequest,
): Promise<Page<AuditEvent>> {
  const where: FilterQuery<AuditEvent> = {
    ...(projectId === null ? {} : { project: projectId }),
    ...(filter.types ? { type: { $in: [...filter.types] } } : {}),
    ...(filter.result ? { result: filter.result } : {}),
    ...(filter.actorId ? { actorId: filter.actorId } : {}),
    ...(filter.subjectId ? { subjectId: filter.subjectId } : {}),
    ...(filter.clientId ? { clientId: filter.clientId } : {}),
    ...(filter.since || filter.until
      ? { at: { ...(filter.since ? { $gte: filter.since } : {}), ...(filter.until ? { $lt: filter.until } : {}) } }
      : {}),
  };
  return pageOf(em, AuditEvent, where, page);
}
