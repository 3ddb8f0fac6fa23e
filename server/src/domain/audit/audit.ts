import type { EntityManager } from '@mikro-orm/postgresql';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Random } from '../kernel/random.ts';
import { Project } from '../projects/project.entity.ts';
import { AuditEvent } from './audit-event.entity.ts';

/** What is told to the audit log. */
export interface AuditEntry {
  /** `noun.verb` in the past tense, e.g. `client.created`. */
  type: string;
  actor: Actor;
  /** Absent for what concerns the whole instance. */
  projectId?: string | undefined;
  result?: 'success' | 'failure';
  subject?: { kind: string; id: string; name?: string | undefined };
  clientId?: string | undefined;
  /** Before and after, reasons: never a secret. */
  detail?: Record<string, unknown>;
}

/** The memory of who did what. It joins the caller's transaction: what did not happen is not told, and the reverse. */
export class Audit {
  private readonly clock: Clock;
  private readonly random: Random;

  constructor(clock: Clock, random: Random) {
    this.clock = clock;
    this.random = random;
  }

  /** Written when `em`'s transaction commits. */
  record(em: EntityManager, entry: AuditEntry): void {
    const { actor, subject } = entry;
    em.persist(
      em.create(AuditEvent, {
        id: this.random.id(),
        project: entry.projectId ? em.getReference(Project, entry.projectId, { wrapped: true }) : null,
        at: this.clock.now(),
        type: entry.type,
        result: entry.result ?? 'success',
        actorKind: actor.kind,
        actorId: actor.id ?? null,
        actorName: actor.name ?? null,
        subjectKind: subject?.kind ?? null,
        subjectId: subject?.id ?? null,
        subjectName: subject?.name ?? null,
        clientId: entry.clientId ?? null,
        detail: entry.detail ?? null,
        ip: actor.ip ?? null,
        userAgent: actor.userAgent ?? null,
        requestId: actor.requestId ?? null,
      }),
    );
  }
}
