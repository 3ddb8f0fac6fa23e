import type { MikroORM } from '@mikro-orm/postgresql';
import { fetchNextJob } from 'pg-boss/dist/plans.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../test/database.ts';
import { ownTime } from '../../../test/own-time.ts';
import { Database } from '../../domain/kernel/database.ts';
import type { QueuedJob } from '../../domain/kernel/jobs.ts';
import { openDatabase } from './database.ts';
import { JobQueue } from './job-queue.ts';

let database: FreshDatabase;
let orm: MikroORM;
let db: Database;
let queues: JobQueue[];
let errors: unknown[];

beforeEach(async () => {
  database = await freshDatabase();
  orm = await openDatabase({ url: database.url });
  db = new Database(orm);
  queues = [];
  errors = [];
});
afterEach(async () => {
  await Promise.all(queues.map((queue) => queue.stop(1)));
  await orm.close(true);
  await database.drop();
});

function newQueue(): JobQueue {
  const queue = new JobQueue({ url: database.url, onError: (error) => errors.push(error) });
  queues.push(queue);
  return queue;
}

function job(run: QueuedJob['run'], over: Partial<QueuedJob> = {}): QueuedJob {
  const retries = { limit: 3, firstSeconds: 1, longestSeconds: 1 };
  return { name: 'test.job', run, workers: 2, timeoutSeconds: 30, retries, ...over };
}

describe('the job queue', () => {
  it('runs a job within a second of the commit, and not before', async () => {
    const queue = newQueue();
    const done: unknown[] = [];
    await queue.start({ queued: [job(async (data) => void done.push(data['n']))], periodic: [] });
    let doneBeforeCommit = 0;
    await db.transaction(async (em) => {
      await queue.send(em, 'test.job', { n: 1 });
      await em.execute('select pg_sleep(0.3)');
      doneBeforeCommit = done.length;
    });
    const { took } = await ownTime(async () => {
      await expect.poll(() => done).toEqual([1]);
    });
    expect(doneBeforeCommit).toBe(0);
    expect(took).toBeLessThan(1000);
  });

  it('drops a job whose transaction is rolled back', async () => {
    const queue = newQueue();
    const done: unknown[] = [];
    await queue.start({ queued: [job(async (data) => void done.push(data['n']))], periodic: [] });
    const rolledBack = db.transaction(async (em) => {
      await queue.send(em, 'test.job', { n: 1 });
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    await db.transaction((em) => queue.send(em, 'test.job', { n: 2 }));
    await expect.poll(() => done).toEqual([2]);
  });

  it('runs several jobs of one statement, none of a rolled-back transaction', async () => {
    const queue = newQueue();
    const done: unknown[] = [];
    await queue.start({ queued: [job(async (data) => void done.push(data['n']))], periodic: [] });
    const rolledBack = db.transaction(async (em) => {
      await queue.sendMany(em, 'test.job', [{ n: 1 }]);
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    await expect(queue.sendMany(db.reader(), 'test.job', [{ n: 1 }])).rejects.toThrow('transaction');
    await db.transaction((em) => queue.sendMany(em, 'test.job', [{ n: 2 }, { n: 3 }]));
    await expect.poll(() => done.toSorted()).toEqual([2, 3]);
  });

  it('gives each job to one of several processes, and installs its schema once if they start concurrently', async () => {
    const done: number[] = [];
    const table = { queued: [job(async (data) => void done.push(Number(data['n'])))], periodic: [] };
    const all = [newQueue(), newQueue(), newQueue()];
    await Promise.all(all.map((queue) => queue.start(table)));
    const numbers = Array.from({ length: 30 }, (_, n) => n);
    await Promise.all(numbers.map((n) => db.transaction((em) => (all[n % 3] as JobQueue).send(em, 'test.job', { n }))));
    await expect.poll(() => done).toHaveLength(30);
    expect(done.toSorted((a, b) => a - b)).toEqual(numbers);
  });

  it('retries and reports a failed attempt', async () => {
    const queue = newQueue();
    let tries = 0;
    const fails = job(async () => {
      if (++tries === 1) throw new Error('once');
    });
    await queue.start({ queued: [fails], periodic: [] });
    await db.transaction((em) => queue.send(em, 'test.job', {}));
    await expect.poll(() => tries).toBe(2);
    expect(errors).toEqual([expect.objectContaining({ message: 'once' })]);
  });

  it('accepts jobs without running them if `work` is false', async () => {
    const idle = newQueue();
    const done: unknown[] = [];
    const table = { queued: [job(async (data) => void done.push(data['n']))], periodic: [] };
    await idle.start(table, { work: false });
    await db.transaction((em) => idle.send(em, 'test.job', { n: 1 }));
    const working = newQueue();
    await working.start(table);
    await expect.poll(() => done).toEqual([1]);
  });

  it('starts a code immediately behind 100,000 notices that do not end, by an index scan of its own queue', async () => {
    const queue = newQueue();
    const [codes, notices] = [[] as unknown[], [] as unknown[]];
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const hang = async (data: Record<string, unknown>) => {
      notices.push(data);
      await ended;
    };
    const table = [
      job(hang, { name: 'delivery.notices' }),
      job(async (data) => void codes.push(data['n']), { name: 'delivery.codes' }),
    ];
    const idle = newQueue();
    await idle.start({ queued: table, periodic: [] }, { work: false });
    await db.transaction(async (em) => {
      await idle.send(em, 'delivery.notices', {});
      await em.execute(
        `insert into jobs.job (name, data, policy)
          select name, data, policy from jobs.job, generate_series(1, 100000) where name = 'delivery.notices'`,
      );
    });
    await queue.start({ queued: table, periodic: [] });
    await expect.poll(() => notices.length).toBeGreaterThan(0);
    await db.transaction((em) => idle.send(em, 'delivery.codes', { n: 1 }));
    await expect.poll(() => codes).toEqual([1]);
    expect(notices.length).toBeLessThanOrEqual(10);
    await db.transaction((em) => em.execute('analyze jobs.job_common'));
    const { text } = fetchNextJob({
      ...{ schema: 'jobs', table: 'job_common', name: 'delivery.codes', limit: 5 },
      ...{ policy: 'standard', includeMetadata: false, ignoreSingletons: null },
    });
    const plan = (await db.reader().execute<{ 'QUERY PLAN': string }[]>(`explain ${text}`))
      .map((line) => line['QUERY PLAN'])
      .join('\n');
    expect(plan).toMatch(/Index Scan.*\n +Index Cond: \(*name = 'delivery\.codes'/);
    expect(plan).not.toContain('Seq Scan on job_common');
    end();
  });

  it('refuses a job outside of a transaction', async () => {
    await expect(newQueue().send(db.reader(), 'test.job', {})).rejects.toThrow('transaction');
  });
});
