import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import { type AuditEvent, instanceId } from '../audit/audit-event.entity.ts';
import type { EventType } from '../audit/event-types.ts';
import type { Actor } from '../kernel/actor.ts';
import { change } from '../kernel/change.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { found, refuse } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { digest, isUuid } from '../kernel/secret.ts';
import { query, sql } from '../kernel/sql.ts';
import type { Vault } from '../keys/vault.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import { Project } from '../projects/project.entity.ts';
import { existing, locked } from '../projects/tenant.ts';
import { checkedTypes } from '../webhooks/received-types.ts';
import { checkedDescription } from '../webhooks/webhook-settings.ts';
import { secretPurpose, testType } from './batch.ts';
import { LogStream, type StreamKind } from './log-stream.entity.ts';
import { type Lag, lagOf, lagOfKinds, logOfRow } from './stream-log.ts';
import { checkedHeader, checkedTarget, type Reach, type StreamSettings } from './stream-settings.ts';

const maxStreams = 10;
/** Test events that admins of a project may send. */
const tests: LimitRule = { name: 'log-stream-tests', max: 60, windowSeconds: 600 };
/** Key of the advisory lock: streams of the instance are created one after another. */
const createLock = 7_316_904_559;

interface Deps {
  db: Database;
  clock: Clock;
  random: Random;
  audit: Audit;
  vault: Vault;
  limits: Pick<Limits, 'spend'>;
  reach: Reach;
}

/** A stream of a project, or of the instance: `projectId` null. */
export interface StreamKey {
  projectId: string | null;
  id: string;
}

/** Log streams and their settings. {@link StreamChannel} delivers. */
export class LogStreams {
  constructor(private readonly deps: Deps) {}

  /** The streams of a project, or those of the instance, oldest first: at most 10. */
  list(em: EntityManager, projectId: string | null): Promise<LogStream[]> {
    return em.find(LogStream, { project: projectId }, { orderBy: { id: 'asc' } });
  }

  /** Refuses `not-found`. */
  async get(em: EntityManager, { projectId, id }: StreamKey): Promise<LogStream> {
    return found(isUuid(id) ? await em.findOne(LogStream, { project: projectId, id }) : null, 'log-stream');
  }

  /** Seconds since the oldest waiting event, by kind. */
  lagOfKinds(): Promise<{ kind: StreamKind; seconds: number }[]> {
    return lagOfKinds(this.deps.db);
  }

  lag(stream: LogStream): Promise<Lag> {
    return lagOf(this.deps.db, stream);
  }

  /** The settings of a stream of a project in their stored form. Refuses `invalid`. */
  check(kind: StreamKind, settings: Pick<StreamSettings, 'target' | 'description' | 'types'>) {
    return this.checked(kind, settings, false);
  }

  /** Digest of the header's value, to compare it with another; null without a header. */
  secretDigest({ id, sealedSecret }: LogStream): string | null {
    return sealedSecret == null ? null : digest(this.deps.vault.open(secretPurpose, id, sealedSecret));
  }

  /** Events from now on are delivered. Refuses `not-found`, `invalid`. */
  create(projectId: string | null, kind: StreamKind, settings: StreamSettings, actor: Actor): Promise<LogStream> {
    const { audit, clock, db, random, vault } = this.deps;
    const { format, gzip } = settings;
    const values = { ...this.checked(kind, settings, projectId === null), format, gzip };
    const header = checkedHeader(kind, settings);
    return db.transaction(async (em) => {
      await this.lock(em, projectId);
      if ((await em.count(LogStream, { project: projectId })) >= maxStreams) {
        refuse({ code: 'invalid', field: 'projectId', reason: `already has ${maxStreams} log streams` });
      }
      await this.mustBeFree(em, kind, values.target);
      const id = random.id();
      const [now, position] = [clock.now(), await headOf(em, projectId)];
      const stream = em.create(LogStream, {
        ...{ id, project: projectId, kind, ...values, position, createdAt: now, updatedAt: now },
        header: header?.header ?? null,
        sealedSecret: header && vault.seal(secretPurpose, id, header.secret),
      });
      em.persist(stream);
      audit.record(em, entry('log-stream.created', stream, actor, { kind, types: values.types }));
      return stream;
    });
  }

  /**
   * Changes settings; an absent secret is kept; null removes it with its header. `paused: false` also ends the
   * wait after a failure. Refuses `not-found`, `invalid`.
   */
  update(key: StreamKey, settings: Partial<StreamSettings> & { paused?: boolean }, actor: Actor): Promise<LogStream> {
    const { audit, clock, db } = this.deps;
    return db.transaction(async (em) => {
      const stream = await this.locked(em, key);
      const { kind } = stream;
      const { target, description, types, format, gzip, paused } = settings;
      const before = shownTarget(stream);
      const checked =
        target === undefined ? undefined : checkedTarget(kind, target, stream.project == null, this.deps.reach);
      if (checked !== undefined && checked !== stream.target) await this.mustBeFree(em, kind, checked);
      const changed = change(stream, {
        target: checked,
        description: description === undefined ? undefined : checkedDescription(description),
        types: types === undefined ? undefined : checkedTypes(types),
        ...{ format, gzip, paused },
      });
      const secretChanged = this.setSecret(stream, settings, checked !== undefined && changed?.after['target'] != null);
      if (!changed && !secretChanged) return stream;
      Object.assign(stream, {
        updatedAt: clock.now(),
        failures: 0,
        failingSince: null,
        nextAttemptAt: null,
        lastError: null,
      });
      const shown = (of: Record<string, unknown> = {}, at: string) => ('target' in of ? { ...of, target: at } : of);
      const detail = {
        before: shown(changed?.before, before),
        after: { ...shown(changed?.after, shownTarget(stream)), ...(secretChanged && { secret: 'changed' }) },
      };
      audit.record(em, entry('log-stream.updated', stream, actor, detail));
      return stream;
    });
  }

  /** Refuses `not-found`. */
  remove(key: StreamKey, actor: Actor): Promise<void> {
    return this.deps.db.transaction(async (em) => {
      const stream = await this.locked(em, key);
      this.deps.audit.record(em, entry('log-stream.deleted', stream, actor));
      em.remove(stream);
    });
  }

  /**
   * Records the event `log-stream.tested`, which the stream receives regardless of its filter. Refuses `not-found`,
   * `invalid`, `too-many`.
   */
  async test(key: StreamKey, actor: Actor): Promise<AuditEvent> {
    const { audit, db, limits } = this.deps;
    const spent = await db.transaction((em) => limits.spend(em, tests, key.projectId ?? 'instance'));
    if (!spent.allowed) refuse({ code: 'too-many', retryAfterSeconds: spent.retryAfterSeconds });
    return db.transaction(async (em) => {
      const stream = await this.locked(em, key);
      if (stream.paused) refuse({ code: 'invalid', field: 'id', reason: 'is paused' });
      stream.nextAttemptAt = null;
      return audit.record(em, entry(testType, stream, actor));
    });
  }

  private checked(
    kind: StreamKind,
    { target, description, types }: Pick<StreamSettings, 'target' | 'description' | 'types'>,
    isOfInstance: boolean,
  ) {
    return {
      target: checkedTarget(kind, target, isOfInstance, this.deps.reach),
      description: checkedDescription(description),
      types: checkedTypes(types),
    };
  }

  /** @returns whether it changed */
  private setSecret(stream: LogStream, settings: Partial<StreamSettings>, isMoved: boolean): boolean {
    const { header, secret } = settings;
    if (header === undefined && secret === undefined) {
      // Otherwise an admin, who cannot read the secret, could send it to their own address.
      if (isMoved && stream.sealedSecret != null) {
        refuse({ code: 'invalid', field: 'secret', reason: 'must be entered again for another target' });
      }
      return false;
    }
    const next = checkedHeader(stream.kind, { header: header ?? null, secret: secret ?? null });
    Object.assign(stream, {
      header: next?.header ?? null,
      sealedSecret: next && this.deps.vault.seal(secretPurpose, stream.id, next.secret),
    });
    return true;
  }

  private async lock(em: EntityManager, projectId: string | null): Promise<void> {
    if (projectId === null) {
      await query(em, sql`select pg_advisory_xact_lock(${createLock})`);
      return;
    }
    await existing(em, Project, projectId, 'project', locked);
  }

  /** Refuses `invalid`: two streams would mix their lines in one file. */
  private async mustBeFree(em: EntityManager, kind: StreamKind, target: string): Promise<void> {
    if (kind !== 'file' || (await em.count(LogStream, { kind, target })) === 0) return;
    refuse({ code: 'invalid', field: 'target', reason: 'is the file of another stream' });
  }

  private async locked(em: EntityManager, { projectId, id }: StreamKey): Promise<LogStream> {
    const lock = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
    return found(isUuid(id) ? await em.findOne(LogStream, { project: projectId, id }, lock) : null, 'log-stream');
  }
}

/** The target without path and query, which may contain a token of the receiver. */
export function shownTarget({ kind, target }: Pick<LogStream, 'kind' | 'target'>): string {
  return kind === 'http' ? new URL(target).origin : target;
}

/** The last position of a log. */
async function headOf(em: EntityManager, projectId: string | null): Promise<number> {
  const log = sql`${projectId ?? instanceId}::uuid`;
  const [row] = await query(
    em,
    sql<{ head: string }>`select greatest(
      (select max(e.position) from stream_events e where e.project_id = ${log}),
      (select max(s.position) from log_streams s where ${logOfRow} = ${log}), 0) as head`,
  );
  return Number(row?.head ?? 0);
}

function entry(type: EventType, stream: LogStream, actor: Actor, detail?: Record<string, unknown>) {
  const subject = { kind: 'log-stream', id: stream.id, name: shownTarget(stream) };
  return { type, actor, ...(stream.project && { projectId: stream.project.id }), subject, ...(detail && { detail }) };
}
