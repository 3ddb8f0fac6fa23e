import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type Actor, system } from '../kernel/actor.ts';
import { type Change, change } from '../kernel/change.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Database, flushUnlessTaken, pastDeadlocks, withoutTimeLimit } from '../kernel/database.ts';
import { exactTotal, limitedTotal, maxTotal, named, type Page, type PageRequest, pageOf } from '../kernel/page.ts';
import { found, refuse } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { checkedBy, withDefaultsOf } from '../kernel/resource.ts';
import { isUuid } from '../kernel/secret.ts';
import { query, sql } from '../kernel/sql.ts';
import { projectIssuerUrl } from './issuer.ts';
import { Project } from './project.entity.ts';
import { type ProjectSettings, projectFields, type SessionPolicy, sessionPolicyFields } from './project.resource.ts';
import { checkedSlug, slugOf, slugWith } from './slug.ts';
import { TestMode, testModeMaxUsers } from './test-mode.ts';

/** Settings as stored: `passkeys` is whether the policy allows any. */
type StoredSettings = Partial<ProjectSettings> & { passkeys?: boolean };

/** Absent values stay unchanged. */
export interface ProjectChange extends Partial<ProjectSettings> {
  /** The version that the caller read; refuses `conflict` if it has changed since. */
  expectedVersion?: number | undefined;
}

export interface SessionPolicyChange extends Partial<SessionPolicy> {
  expectedVersion?: number | undefined;
}

/** Key of the advisory lock: one project at a time gets a slug. */
const slugLock = 7_316_904_560;

/** Counts of everything deleted with a project. */
interface ProjectContents {
  users: number;
  clients: number;
  sessions: number;
  scimTokens: number;
}

export interface CountedContents extends ProjectContents {
  /** Whether there are more than `sessions`. */
  isSessionsLimited: boolean;
}

type ProjectEvent =
  | 'project.created'
  | 'project.updated'
  | 'project.session-policy-updated'
  | 'project.test_mode_ended'
  | 'project.deleted';

/** The part of the audit log used here. Its layer is one above, since events belong to a project. */
interface Log {
  record(
    em: EntityManager,
    entry: {
      type: ProjectEvent;
      actor: Actor;
      projectId?: string | undefined;
      subject: { kind: string; id: string; name: string };
      detail?: Record<string, unknown>;
    },
  ): void;
  deleteEventsOf(em: EntityManager, projectId: string): Promise<void>;
}

/** Tenants and their policies. */
export class Projects {
  readonly testMode: TestMode;

  /**
   * @param issuer the base address: on https, only small projects may use test mode
   * @param canSendSms whether a project may offer SMS as its only factor
   */
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      random: Random;
      audit: Log;
      issuer: string;
      canSendSms: boolean;
    },
  ) {
    this.testMode = new TestMode(deps.issuer);
  }

  find(em: EntityManager, id: string): Promise<Project | null> {
    return isUuid(id) ? em.findOne(Project, id) : Promise.resolve(null);
  }

  /** The address of the project's issuer. */
  issuerOf({ slug }: Project): string {
    return projectIssuerUrl(this.deps.issuer, slug);
  }

  /** Newest first. @param among the projects that the caller may see; `null`: all */
  list(
    em: EntityManager,
    filter: { among: readonly string[] | null; search?: string | undefined },
    page: PageRequest,
  ): Promise<Page<Project>> {
    return pageOf(em, Project, matching(filter), page);
  }

  count(em: EntityManager, filter: { among: readonly string[] | null; search?: string | undefined }): Promise<number> {
    return em.count(Project, matching(filter));
  }

  /**
   * @param input.slug absent: derived from the name
   *
   * Refuses `invalid`, `taken`.
   */
  create(input: Partial<ProjectSettings> & { name: string; slug?: string }, actor: Actor): Promise<Project> {
    const settings = this.check(input);
    const given = input.slug === undefined ? undefined : checkedSlug(input.slug);
    return this.deps.db.transaction(async (em) => {
      const slug = given ?? (await this.freeSlug(em, settings.name as string));
      if (given !== undefined && (await em.count(Project, { slug })) > 0) {
        refuse({ code: 'taken', what: 'project', field: 'slug' });
      }
      const project = this.make(em, { ...settings, name: settings.name as string, slug });
      const detail = { after: { ...settings, slug } };
      this.deps.audit.record(em, {
        type: 'project.created',
        actor,
        projectId: project.id,
        subject: subject(project),
        detail,
      });
      await flushUnlessTaken(em, 'project', 'slug');
      return project;
    });
  }

  /** Joins: a new project with the defaults of service.md 2.6, without an audit event. */
  make(
    em: EntityManager,
    input: StoredSettings & { name: string; slug: string; builtIn?: 'console' | 'demo' },
  ): Project {
    const now = this.deps.clock.now();
    const project = em.create(Project, {
      id: this.deps.random.id(),
      slug: input.slug,
      builtIn: input.builtIn ?? null,
      ...withDefaultsOf(projectFields, input),
      ...withDefaultsOf(sessionPolicyFields, {}),
      passkeys: input.passkeys ?? true,
      version: 1,
      createdAt: now,
      updatedAt: now,
    });
    em.persist(project);
    return project;
  }

  /** Joins: a slug that is derived from the name and that no project has. Concurrent callers wait for this transaction. */
  async freeSlug(em: EntityManager, name: string): Promise<string> {
    await query(em, sql`select pg_advisory_xact_lock(${slugLock})`);
    const slug = slugOf(name);
    if ((await em.count(Project, { slug })) === 0) return slug;
    return slugWith(slug, this.deps.random.id().slice(-8));
  }

  /** Refuses `not-found`, `invalid`, `conflict`. */
  update(id: string, input: ProjectChange, actor: Actor): Promise<Project> {
    const settings = this.check(input);
    return this.deps.db.transaction(async (em) => {
      const project = await this.locked(em, id, input.expectedVersion);
      if (project.builtIn === 'console') keepConsoleClosed(settings);
      if (settings.testMode === true) await this.checkTestMode(em, project.id);
      this.write(em, project, 'project.updated', change<Project>(project, settings), actor);
      return project;
    });
  }

  /** Refuses `not-found`, `invalid`, `conflict`. */
  updateSessionPolicy(id: string, input: SessionPolicyChange, actor: Actor): Promise<Project> {
    const policy = this.checkPolicy(input);
    return this.deps.db.transaction(async (em) => {
      const project = await this.locked(em, id, input.expectedVersion);
      const changed = change<Project>(project, policy);
      this.write(em, project, 'project.session-policy-updated', changed, actor);
      return project;
    });
  }

  /**
   * Joins: turns off test mode if it is no longer allowed, and audits each change.
   *
   * @param reason users were added, or the base address became https
   */
  async endTestModes(em: EntityManager, reason: 'user-limit' | 'base-address'): Promise<void> {
    for (const { id, users } of await this.testMode.overdue(em)) {
      const project = await em.findOne(Project, id, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
      if (!project?.testMode) continue;
      project.testMode = false;
      project.version += 1;
      project.updatedAt = this.deps.clock.now();
      this.deps.audit.record(em, {
        type: 'project.test_mode_ended',
        actor: system,
        projectId: id,
        subject: subject(project),
        detail: { reason, users },
      });
    }
  }

  /**
   * By project id, the number of resources that {@link delete} would delete. @param exact counts all sessions, without
   * a limit
   */
  async contents(em: EntityManager, ids: readonly string[], exact: boolean): Promise<Map<string, CountedContents>> {
    const rows = await this.counted(em, ids, exact ? null : maxTotal + 1);
    const total = exact ? exactTotal : limitedTotal;
    const counted = rows.map(({ id, ...contents }): [string, CountedContents] => {
      const { count: sessions, isLimited: isSessionsLimited } = total(contents.sessions);
      return [id, { ...contents, sessions, isSessionsLimited }];
    });
    return new Map(counted);
  }

  /** @param most sessions to count for each; null: all */
  private counted(em: EntityManager, ids: readonly string[], most: number | null) {
    return query(
      em,
      sql<ProjectContents & { id: string }>`
        select p.id, (select coalesce(sum(users), 0)::int from user_counts where project_id = p.id) as users,
          (select count(*)::int from clients where project_id = p.id) as clients,
          (select count(*)::int from (select 1 from sessions where project_id = p.id and ended_at is null
            limit ${most}) live) as sessions,
          (select count(*)::int from scim_tokens where project_id = p.id and revoked_at is null) as "scimTokens"
        from unnest(${[...ids]}::uuid[]) p(id)`,
    );
  }

  /**
   * Deletes the project with all its data and events; the instance's audit log records the deletion. Refuses
   * `not-found`, `invalid` if `confirmName` is not its name, `forbidden` for the console's project.
   */
  delete(id: string, confirmName: string, actor: Actor): Promise<CountedContents> {
    // A change may have locked a row of the project, and now refer to the project, e.g. by its event.
    return pastDeadlocks(() =>
      this.deps.db.transaction(async (em) => {
        const project = await this.locked(em, id);
        if (project.builtIn === 'console') {
          refuse({ code: 'forbidden', reason: 'the project of the admins cannot be deleted' });
        }
        if (confirmName !== project.name) {
          refuse({ code: 'invalid', field: 'confirmName', reason: 'must be the name of the project' });
        }
        await withoutTimeLimit(em);
        const [counted] = await this.counted(em, [id], null);
        const { id: _, ...contents } = counted as NonNullable<typeof counted>;
        this.deps.audit.record(em, {
          type: 'project.deleted',
          actor,
          subject: subject(project),
          detail: { lost: contents },
        });
        em.remove(project);
        // Waits for the transactions that change its rows; their events are deleted, too.
        await em.flush();
        await this.deps.audit.deleteEventsOf(em, id);
        return { ...contents, isSessionsLimited: false };
      }),
    );
  }

  /** The settings as they would be stored. Refuses `invalid`. */
  check(input: Partial<ProjectSettings>): StoredSettings {
    const settings: StoredSettings = checkedBy(projectFields, input, this.checking);
    const { passkeyPolicy } = settings;
    if (passkeyPolicy !== undefined) settings.passkeys = passkeyPolicy !== 'off';
    // A user who must have a factor and can set up none is locked out.
    if (!this.deps.canSendSms && settings.offeredFactors?.join() === 'sms') {
      const reason = 'must contain more than SMS, because no SMS gateway is set (SMS_URL)';
      refuse({ code: 'invalid', field: 'offeredFactors', reason });
    }
    return settings;
  }

  /** The session policy as it would be stored. Refuses `invalid`. */
  checkPolicy(input: Partial<SessionPolicy>): Partial<SessionPolicy> {
    return checkedBy(sessionPolicyFields, input, this.checking);
  }

  private get checking() {
    return { now: this.deps.clock.now(), allowPrivateTargets: false };
  }

  private async locked(em: EntityManager, id: string, expectedVersion?: number): Promise<Project> {
    const project = isUuid(id) ? await em.findOne(Project, id, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
    const present = found(project, 'project');
    if (expectedVersion !== undefined && expectedVersion !== present.version) {
      refuse({ code: 'conflict', what: 'project' });
    }
    return present;
  }

  private write(em: EntityManager, project: Project, type: ProjectEvent, changed: Change | null, actor: Actor): void {
    if (!changed) return;
    project.version += 1;
    project.updatedAt = this.deps.clock.now();
    this.deps.audit.record(em, {
      type,
      actor,
      projectId: project.id,
      subject: subject(project),
      detail: { ...changed },
    });
  }

  private async checkTestMode(em: EntityManager, id: string): Promise<void> {
    if (!(await this.testMode.isBeyond(em, id))) return;
    const reason = `is not allowed over https for a project with more than ${testModeMaxUsers} users`;
    refuse({ code: 'invalid', field: 'testMode', reason });
  }
}

function matching(filter: { among: readonly string[] | null; search?: string | undefined }) {
  return { ...(filter.among ? { id: { $in: [...filter.among] } } : {}), ...named(filter.search) };
}

function subject(project: Project) {
  return { kind: 'project', id: project.id, name: project.name };
}

/** The users of the console's project administer the instance: no directory, no codes in responses, no sign-up, no clients that introduce themselves. */
function keepConsoleClosed(settings: Partial<ProjectSettings>): void {
  const reason = 'cannot be set on the project of the admins';
  if (settings.testMode === true) refuse({ code: 'invalid', field: 'testMode', reason });
  if (settings.scimEnabled === true) refuse({ code: 'invalid', field: 'scimEnabled', reason });
  if ((settings.signUp ?? 'provisioned_only') !== 'provisioned_only')
    refuse({ code: 'invalid', field: 'signUp', reason });
  for (const field of ['clientMetadataDocuments', 'clientRegistration'] as const)
    if ((settings[field] ?? 'off') !== 'off') refuse({ code: 'invalid', field, reason });
}
