import type { MikroORM } from '@mikro-orm/postgresql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../test/database.ts';
import { ownTime } from '../../../test/own-time.ts';
import { Database } from '../../domain/kernel/database.ts';
import type { QueuedJob } from '../../domain/kernel/queue.ts';
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
    await queue.start({ queued: [job(async (data) => void done.push(data['n']))], periodic: [], retired: [] });
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
    await queue.start({ queued: [job(async (data) => void done.push(data['n']))], periodic: [], retired: [] });
    const rolledBack = db.transaction(async (em) => {
      await queue.send(em, 'test.job', { n: 1 });
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    await db.transaction((em) => queue.send(em, 'test.job', { n: 2 }));
    await expect.poll(() => done).toEqual([2]);
  });

  it('gives each job to one of several processes, and installs its schema once if they start concurrently', async () => {
    const done: number[] = [];
    const table = { queued: [job(async (data) => void done.push(Number(data['n'])))], periodic: [], retired: [] };
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
    await queue.start({ queued: [fails], periodic: [], retired: [] });
    await db.transaction((em) => queue.send(em, 'test.job', {}));
    await expect.poll(() => tries).toBe(2);
    expect(errors).toEqual([expect.objectContaining({ message: 'once' })]);
  });

  it('accepts jobs without running them if `work` is false', async () => {
    const idle = newQueue();
    const done: unknown[] = [];
    const table = { queued: [job(async (data) => void done.push(data['n']))], periodic: [], retired: [] };
    await idle.start(table, { work: false });
    await db.transaction((em) => idle.send(em, 'test.job', { n: 1 }));
    const working = newQueue();
    await working.start(table);
    await expect.poll(() => done).toEqual([1]);
  });

  it('runs jobs and schedules after the clock was ahead by an hour and set back', async () => {
    const done: unknown[] = [];
    const table = { queued: [job(async () => void done.push(1))], periodic: [], retired: [] };
    const idle = newQueue();
    await idle.start(table, { work: false });
    await db.transaction(async (em) => {
      await idle.send(em, 'test.job', {});
      // As the clock that was ahead wrote them.
      await em.execute(`update jobs.job set start_after = now() + interval '1 hour' where name = 'test.job'`);
      await em.execute(`insert into jobs.job (name, data, policy, state, singleton_key, singleton_on, completed_on)
        select '__pgboss__send-it', '{}', 'standard', 'completed', 'x', (now() at time zone 'UTC') + interval '1 hour', now()`);
      await em.execute(`update jobs.version set cron_on = now() + interval '1 hour'`);
      await em.execute(
        `update jobs.queue set maintain_on = now() + interval '1 hour', monitor_claim_on = now() + interval '1 hour'`,
      );
    });
    await newQueue().start(table);
    await expect.poll(() => done, { timeout: 60_000 }).toEqual([1]);
    const ahead = `select (select count(*) from jobs.version where cron_on > now())
      + (select count(*) from jobs.queue where greatest(maintain_on, monitor_claim_on) > now())
      + (select count(*) from jobs.job where singleton_on > now() at time zone 'UTC') as n`;
    expect(await db.reader().execute(ahead)).toEqual([{ n: '0' }]);
  });

  it('ends the schedule and the jobs of a retired job without a run', async () => {
    const previous = newQueue();
    const done: unknown[] = [];
    const run = async () => void done.push(1);
    const scheduled = { name: 'test.scheduled', everyMinutes: 60, run } as const;
    await previous.start({ queued: [job(run)], periodic: [scheduled], retired: [] }, { work: false });
    await db.transaction(async (em) => {
      await previous.send(em, 'test.job', {});
      await em.execute(`insert into jobs.schedule (name, key, cron) values ('test.scheduled', '', '7 * * * *')`);
    });
    const table = { queued: [], periodic: [], retired: ['test.job', 'test.scheduled', 'test.unknown'] };
    await newQueue().start(table);
    const left = `select (select count(*) from jobs.schedule) + (select count(*) from jobs.job where state <> 'completed') as n`;
    await expect.poll(async () => (await db.reader().execute<{ n: string }[]>(left))[0]?.n).toBe('0');
    expect(done).toEqual([]);
  });

  it('refuses a job outside of a transaction', async () => {
    await expect(newQueue().send(db.reader(), 'test.job', {})).rejects.toThrow('transaction');
  });
});
