import type { EntityManager } from '@mikro-orm/postgresql';
import { fromKysely, type Job, type JobResult, PgBoss, type UpdateQueueOptions } from 'pg-boss';
import type { JobTable, PeriodicJob, Queue, QueuedJob, QueueGauge, QueueStats } from '../../domain/kernel/queue.ts';

export interface JobQueueOptions {
  /** The domain's database. */
  url: string;
  /** Called for errors of jobs and of the queue. Messages hold no secrets: jobs carry ids only. */
  onError(error: unknown, job: string | undefined): void;
  /** Called after each attempt of a job. */
  onDone?(job: string, result: 'completed' | 'failed'): void;
}

/** Connections of the queue, plus one that listens. */
const poolSize = 3;
/** Polling interval if PostgreSQL's NOTIFY does not arrive, e.g. behind a pooler. */
const pollSeconds = 1;
/** Polling interval if NOTIFY arrives: for deferred jobs, which send none. */
const idlePollSeconds = 3;
/** Polling interval of periodic jobs: ten of them at one second caused most of the idle load. */
const periodicPollSeconds = 15;
/** Jobs that a worker fetches and runs in parallel; after a full batch it fetches again without a pause. */
const batchSize = 5;

/** Driver settings, passed through by pg-boss: detect a dead connection before the network does. */
const timeouts: object = {
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  connectionTimeoutMillis: 5_000,
  query_timeout: 60_000,
};

/** Interval of {@link setBack}. */
const setBackSeconds = 60;

/**
 * SQL: ends waits that were written while a clock was ahead that has since been set back. Without it, periodic jobs
 * wait until the time of the wrong clock. No job of ours is scheduled; a retry waits for an hour at most.
 */
const setBack = [
  `update jobs.version set cron_on = least(cron_on, now()), bam_on = least(bam_on, now()), flow_on = least(flow_on, now()),
    reindex_on = least(reindex_on, now()), monitor_backoff_on = null
   where greatest(cron_on, bam_on, flow_on, reindex_on) > now()`,
  `update jobs.queue set monitor_claim_on = least(monitor_claim_on, now()), monitor_on = least(monitor_on, now()),
    maintain_on = least(maintain_on, now()) where greatest(monitor_claim_on, monitor_on, maintain_on) > now()`,
  `update jobs.job set singleton_on = null where singleton_on > now() at time zone 'UTC'`,
  `update jobs.job set start_after = now() where state < 'active'
    and start_after > now() + case state when 'created' then interval '1 second' else interval '1 hour' end`,
  `update jobs.job set started_on = now() where state = 'active' and started_on > now()`,
];

const consumption = {
  batchSize,
  burstWhenBatchFull: true,
  perJobResults: true,
} as const;

/**
 * Jobs in the schema `jobs` of the domain's database (pg-boss): enqueued in the caller's transaction, started when it
 * has committed, shared by all processes.
 */
export class JobQueue implements Queue, QueueGauge {
  private readonly boss: PgBoss;
  private timer: NodeJS.Timeout | undefined;
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
      ...timeouts,
      useListenNotify: true,
      superviseIntervalSeconds: 10,
      cronMonitorIntervalSeconds: 20,
      cronWorkerIntervalSeconds: 5,
    });
    this.boss.on('error', (error) => onError(error, undefined));
  }

  /** Installs or updates the schema, then runs the jobs of the table; `work: false` only accepts jobs. */
  async start({ queued, periodic, retired }: JobTable, { work = true } = {}): Promise<void> {
    await this.boss.start();
    const accepted = queued.map(async (job) => {
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
    });
    const repeated = periodic.map(async (job) => {
      await this.declare(
        job.name,
        { notify: true, retryLimit: 0, expireInSeconds: 300, deleteAfterSeconds: 3600 },
        'exclusive',
      );
      if (!work) return;
      await this.boss.schedule(job.name, cron(job.everyMinutes));
      await this.consume(job.name, 1, () => job.run(), periodicPollSeconds);
    });
    await Promise.all([...accepted, ...repeated]);
    if (!work) return;
    for (const name of retired) await this.retire(name);
    const fix = () => this.endWaitsSetBack().catch((error: unknown) => this.onError(error, undefined));
    await fix();
    this.timer = setInterval(fix, setBackSeconds * 1000);
  }

  async send(em: EntityManager, job: string, data: Record<string, unknown>): Promise<void> {
    if (!em.isInTransaction()) throw new Error(`${job} must be enqueued in a transaction`);
    await this.boss.send(job, data, { db: fromKysely(em.getKysely()) });
  }

  /** Cached counts, at most 30 seconds old. */
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

  /** Fetches no more jobs and waits up to `graceSeconds` for running ones; other processes retry the rest. */
  async stop(graceSeconds = 10): Promise<void> {
    clearInterval(this.timer);
    await this.boss.stop({ graceful: true, timeout: graceSeconds * 1000 });
  }

  private async declare(name: string, settings: UpdateQueueOptions, policy = 'standard') {
    await this.boss.createQueue(name, { policy, ...(settings as object) });
    // An earlier version may have created it with other settings.
    await this.boss.updateQueue(name, settings);
  }

  /** Runs periodic jobs on time after the clocks of this machine and of the database were set back. */
  async endWaitsSetBack(): Promise<void> {
    for (const text of setBack) await this.boss.getDb().executeSql(text);
  }

  /** Ends the schedule of a job of the previous release, and its jobs, without a run. */
  private async retire(name: string): Promise<void> {
    if ((await this.boss.getQueue(name)) === null) return;
    await this.boss.unschedule(name);
    await this.consume(name, 1, async () => undefined, periodicPollSeconds);
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
      // Stored with the job, so only the error's name: a database's message may repeat values.
      return { id: job.id, status: 'failed', output: { error: error instanceof Error ? error.name : 'failed' } };
    }
  }
}

function cron(everyMinutes: PeriodicJob['everyMinutes']): string {
  return everyMinutes === 60 ? '7 * * * *' : `*/${everyMinutes} * * * *`;
}
