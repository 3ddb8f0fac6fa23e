/**
 * Background jobs: queued (messages, logout tokens) and periodic (sweeps, key rotation). The job queue runs and retries
 * them.
 */
import type { Recoveries } from '../domain/accounts/recoveries.ts';
import type { DirectoryWarnings } from '../domain/admins/directory-warnings.ts';
import type { Activity } from '../domain/audit/activity.ts';
import type { AuditRetention } from '../domain/audit/audit-retention.ts';
import type { Retention } from '../domain/ceremonies/retention.ts';
import type { Delivery } from '../domain/delivery/delivery.ts';
import { messageQueues, previousQueue } from '../domain/delivery/queues.ts';
import { SendError } from '../domain/delivery/sender.ts';
import type { RequestRecords } from '../domain/directories/request-records.ts';
import type { DomainEnd, LostDomain } from '../domain/domains/domain-end.ts';
import { type Domains, endDomainJob } from '../domain/domains/domains.ts';
import type { Experiences } from '../domain/experience/experiences.ts';
import type { Database } from '../domain/kernel/database.ts';
import type { JobTable } from '../domain/kernel/jobs.ts';
import type { Queue } from '../domain/kernel/queue.ts';
import { inProject } from '../domain/kernel/scope.ts';
import { query, sql } from '../domain/kernel/sql.ts';
import type { Keys } from '../domain/keys/keys.ts';
import type { Limits } from '../domain/limits/limits.ts';
import type { Logout } from '../domain/logout/logout.ts';
import { deliverData, deliverJob } from '../domain/logout/notices.ts';
import type { Otp } from '../domain/otp/otp.ts';
import type { Projects } from '../domain/projects/projects.ts';
import { keyIn, type TenantKey } from '../domain/projects/tenant.ts';
import type { CustomAttributes } from '../domain/users/custom/custom-attributes.ts';

export interface JobsDeps {
  db: Database;
  queue: Queue;
  delivery: Delivery;
  logout: Logout;
  keys: Keys;
  otp: Otp;
  projects: Projects;
  limits: Limits;
  retention: Retention;
  recoveries: Recoveries;
  directoryWarnings: DirectoryWarnings;
  auditRetention: AuditRetention;
  experiences: Experiences;
  customAttributes: CustomAttributes;
  activity: Activity;
  requestRecords: RequestRecords;
  domains: Domains;
  domainEnd: DomainEnd;
  /** Called when a message could not be sent yet, or a logout delivery throws unexpectedly. */
  onError(error: unknown): void;
}

export function jobs(deps: JobsDeps): JobTable {
  return { queued: queuedJobs(deps), periodic: periodicJobs(deps) };
}

function queuedJobs({ db, delivery, logout, domainEnd, onError }: JobsDeps): JobTable['queued'] {
  return [
    // `delivery` schedules its own attempts, and recovers messages whose process died. The timeout only ends the job.
    ...[...messageQueues, previousQueue].map((name) => ({
      name,
      run: (data: Record<string, unknown>) => forRow('messages', data, data['messageId'], sendMessage),
      workers: name === previousQueue ? 1 : 2,
      timeoutSeconds: 15 * 60,
      retries: { limit: 2, firstSeconds: 30, longestSeconds: 60 },
    })),
    {
      // Only claims and starts the delivery: `logout` schedules its own attempts, so a slow receiver does not block the
      // queue. If the process dies before the claim, the job is retried within 40 s: this timeout, the queue's 10 s poll,
      // and the delay.
      name: deliverJob,
      run: (data) => forRow('logout_deliveries', data, data['deliveryId'], (row) => logout.dispatch(row, onError)),
      workers: 2,
      timeoutSeconds: 15,
      retries: { limit: 3, firstSeconds: 5, longestSeconds: 60 },
    },
    {
      // Idempotent: it ends only rows that are still open.
      name: endDomainJob,
      run: (data) => {
        const lost = data as unknown as LostDomain;
        return inProject(lost.projectId, () => domainEnd.end(lost));
      },
      workers: 1,
      timeoutSeconds: 15 * 60,
      retries: { limit: 10, firstSeconds: 30, longestSeconds: 3600 },
    },
  ];

  /** Runs `work` in the project of the row; the jobs of the previous release do not name it. */
  async function forRow(
    table: 'messages' | 'logout_deliveries',
    { projectId }: { projectId?: unknown },
    rowId: unknown,
    work: (key: TenantKey) => Promise<void>,
  ): Promise<void> {
    const id = String(rowId);
    const owner = sql<{ project: string }>`select project_id as project from ${sql.table(table)} where id = ${id}`;
    const project = projectId === undefined ? (await query(db.alone, owner))[0]?.project : String(projectId);
    if (project !== undefined) await inProject(project, () => work(keyIn(project, id)));
  }

  async function sendMessage(message: TenantKey): Promise<void> {
    try {
      await delivery.send(message);
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      onError(error);
    }
  }
}

function periodicJobs({ db, queue, delivery, logout, projects, experiences, ...deps }: JobsDeps): JobTable['periodic'] {
  return [
    { name: 'keys.tend', everyMinutes: 15, run: () => deps.keys.maintain() },
    { name: 'logout.recover', everyMinutes: 1, run: recoverDeliveries },
    { name: 'delivery.recover', everyMinutes: 1, run: () => delivery.recover() },
    { name: 'sweep.budgets', everyMinutes: 15, run: () => deps.limits.sweep(db.alone) },
    { name: 'sweep.codes', everyMinutes: 15, run: () => deps.otp.sweep(db.alone) },
    { name: 'projects.test-mode', everyMinutes: 5, run: endTestModes },
    { name: 'sweep.messages', everyMinutes: 5, run: () => delivery.sweep() },
    { name: 'sweep.request-records', everyMinutes: 60, run: () => deps.requestRecords.sweep() },
    { name: 'sweep.logos', everyMinutes: 60, run: () => db.transaction((em) => experiences.sweep(em)) },
    { name: 'activity.count', everyMinutes: 30, run: () => deps.activity.count() },
    { name: 'sweep.events', everyMinutes: 60, run: () => deps.auditRetention.sweep() },
    { name: 'domains.check', everyMinutes: 5, run: () => deps.domains.checkDue() },
    { name: 'recoveries.expire', everyMinutes: 15, run: () => deps.recoveries.expire() },
    { name: 'directories.warn', everyMinutes: 60, run: () => deps.directoryWarnings.send() },
    { name: 'sweep.custom-attributes', everyMinutes: 1, run: () => deps.customAttributes.sweep() },
    { name: 'sweep.rest', everyMinutes: 30, run: () => deps.retention.sweep() },
  ];

  function endTestModes(): Promise<void> {
    return db.transaction((em) => projects.endTestModes(em, 'user-limit'));
  }

  async function recoverDeliveries(): Promise<void> {
    const due = await logout.due();
    await db.transaction(async (em) => {
      for (const delivery of due) await queue.send(em, deliverJob, deliverData(delivery));
    });
  }
}
