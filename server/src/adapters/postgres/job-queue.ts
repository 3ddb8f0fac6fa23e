import type { EntityManager } from '@mikro-orm/postgresql';
import { fromKysely, type Job, type JobResult, PgBoss, type UpdateQueueOptions } from 'pg-boss';
import type { JobTable, PeriodicJob, QueuedJob } from '../../domain/kernel/jobs.ts';
import type { Queue, QueueGauge, QueueStats } from '../../domain/kernel/queue.ts';

export interface JobQueueOptions {
  /** The same database that the domain writes to. */
  url: string;
  /** Errors of jobs and of the queue itself. What they say holds no secret: jobs carry ids. */
  onError(error: unknown, job: string | undefined): void;
  /** Told of each try of a job. */
  onDone?(job: string, result: 'completed' | 'failed'): void;
}

/** Connections of the queue's own, beside one that listens. */
const poolSize = 3;
/** How soon a job is taken where PostgreSQL's NOTIFY does not come through (e.g. behind a pooler). */
const pollSeconds = 1;
/** The same where it does come through: for jobs that are due later, which nobody tells of. */
const idlePollSeconds = 3;
/** The same for what recurs after minutes: ten of them, each asking every second, were most of what idling cost. */
const periodicPollSeconds = 15;
/** Jobs that a worker takes at once and does side by side; while it gets that many it comes back without a pause. */
const batchSize = 5;

/**
 * For the driver beneath, which pg-boss hands its settings to: a connection that says nothing any more is given up, or
 * jobs would wait for as long as the network takes to notice.
 */
const bounds: object = {
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  connectionTimeoutMillis: 5_000,
  query_timeout: 60_000,
};

const consumption = {
  batchSize,
  burstWhenBatchFull: true,
  perJobResults: true,
} as const;

/**
 * Jobs in the schema `jobs` of the domain's database (pg-boss): asked for in the transaction of their cause, at work as
 * soon as it has committed, shared by all processes, and outliving each of them.
 */
export class JobQueue implements Queue, QueueGauge {
  private readonly boss: PgBoss;
  private readonly onError: JobQueueOptions['onError'];
  private readonly onDone: JobQueueOptions['onDone'];

  constructor({ url, onError, onDone }: JobQueueOptions) {
    this.onError = onError;
    this.onDone = onDone;
    this.boss = new PgBoss({
      connectionString: url,
      schema: 'jobs',
      application_name: 'latchkey-jobs',
      max: poolSize,
      ...bounds,
      useListenNotify: true,
      superviseIntervalSeconds: 10,
      cronMonitorIntervalSeconds: 20,
      cronWorkerIntervalSeconds: 5,
    });
    this.boss.on('error', (error) => onError(error, undefined));
  }

  /** Installs or updates the schema where needed, then works on the table's jobs; `work: false` only lets jobs in. */
  async start({ queued, periodic }: JobTable, { work = true } = {}): Promise<void> {
    await this.boss.start();
    for (const job of queued) {
      await this.declare(job.name, {
        notify: true,
        retryLimit: job.retries.limit,
        retryBackoff: true,
        retryDelay: job.retries.firstSeconds,
        retryDelayMax: job.retries.longestSeconds,
        expireInSeconds: job.timeoutSeconds,
        deleteAfterSeconds: 24 * 3600,
      });
      if (work) await this.consume(job.name, job.workers, job.run, pollSeconds, idlePollSeconds);
    }
    for (const job of periodic) {
      await this.declare(
        job.name,
        { notify: true, retryLimit: 0, expireInSeconds: 300, deleteAfterSeconds: 3600 },
        'exclusive',
      );
      if (!work) continue;
      await this.boss.schedule(job.name, cron(job.everyMinutes));
      await this.consume(job.name, 1, () => job.run(), periodicPollSeconds);
    }
  }

  async send(
    em: EntityManager,
    job: string,
    data: Record<string, unknown>,
    options: { startAfter?: Date } = {},
  ): Promise<void> {
    if (!em.isInTransaction()) throw new Error(`${job} must be asked for in a transaction`);
    await this.boss.send(job, data, { ...options, db: fromKysely(em.getKysely()) });
  }

  /** As counted by one of the processes within the last half minute. */
  async stats(): Promise<QueueStats[]> {
    const queues = await this.boss.getQueues();
    return queues
      .filter(({ name }) => !name.startsWith('__'))
      .map(({ name, readyCount, deferredCount, activeCount, failedCount }) => ({
        name,
        waiting: readyCount,
        deferred: deferredCount,
        active: activeCount,
        failed: failedCount,
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Takes no more jobs and lets those at work end, for `graceSeconds` at most; the rest is made again by others. */
  async stop(graceSeconds = 10): Promise<void> {
    await this.boss.stop({ graceful: true, timeout: graceSeconds * 1000 });
  }

  private async declare(name: string, settings: UpdateQueueOptions, policy = 'standard') {
    await this.boss.createQueue(name, { policy, ...(settings as object) });
    // An earlier version may have made it with other settings.
    await this.boss.updateQueue(name, settings);
  }

  private async consume(name: string, workers: number, run: QueuedJob['run'], poll: number, idlePoll = poll) {
    const options = {
      ...consumption,
      localConcurrency: workers,
      pollingIntervalSeconds: poll,
      notifyPollingIntervalSeconds: idlePoll,
    };
    await this.boss.work<Record<string, unknown>, void, typeof options>(name, options, (jobs) =>
      Promise.all(jobs.map((job) => this.try(name, job, run))),
    );
  }

  private async try(name: string, job: Job<Record<string, unknown>>, run: QueuedJob['run']): Promise<JobResult> {
    try {
      await run(job.data);
      this.onDone?.(name, 'completed');
      return { id: job.id, status: 'completed' };
    } catch (error) {
      this.onError(error, name);
      this.onDone?.(name, 'failed');
      // Stored with the job, so only its kind: the words of a database repeat the values.
      return { id: job.id, status: 'failed', output: { error: error instanceof Error ? error.name : 'failed' } };
    }
  }
}

function cron(everyMinutes: PeriodicJob['everyMinutes']): string {
  return everyMinutes === 60 ? '7 * * * *' : `*/${everyMinutes} * * * *`;
}
