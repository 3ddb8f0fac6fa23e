import type { EntityManager } from '@mikro-orm/postgresql';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import { keyIn, type TenantKey } from '../projects/tenant.ts';
import type { Message } from './message.entity.ts';
import { codes, type MessageQueue, queueOf } from './queues.ts';

/** A claim that is not renewed for this long ends. */
const leaseSeconds = 60;
const renewMs = 20_000;
/** A message due for this long has lost its job. */
const lostSeconds = 15;

/**
 * Claims an attempt and returns its number, for one caller only; null if the message is settled, not due, or another
 * process sends it.
 */
export async function claim(em: EntityManager, { project, id }: TenantKey, now: Date): Promise<number | null> {
  const [claimed] = await query(
    em,
    sql<{ attempts: number }>`
      update messages set attempts = attempts + 1, next_attempt_at = ${secondsLater(now, leaseSeconds)}
      where project_id = ${project.id} and id = ${id} and state = 'pending'
        and (next_attempt_at is null or next_attempt_at <= ${now})
      returning attempts`,
  );
  return claimed?.attempts ?? null;
}

/** Renews the claim while `work` runs, so that a slow mail server does not get the message a second time. */
export async function whileClaimed<T>(
  { db, clock }: { db: Database; clock: Clock },
  { project, id }: TenantKey,
  attempt: number,
  work: () => Promise<T>,
): Promise<T> {
  const renew = () =>
    execute(
      db.alone,
      sql`update messages set next_attempt_at = ${secondsLater(clock.now(), leaseSeconds)}
          where project_id = ${project.id} and id = ${id} and state = 'pending' and attempts = ${attempt}`,
    );
  // If the database is unavailable, the claim may end: at worst, the message arrives twice.
  const timer = setInterval(() => void renew().catch(() => undefined), renewMs).unref();
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/**
 * Due messages whose job was lost, with their process or with the queue of a restored backup: at most 500 codes, then 500
 * others. Each is returned once a minute.
 */
export async function lostMessages(
  em: EntityManager,
  now: Date,
): Promise<{ key: TenantKey; queueName: MessageQueue }[]> {
  const before = secondsLater(now, -lostSeconds);
  const lost: { key: TenantKey; queueName: MessageQueue }[] = [];
  for (const isUrgent of [true, false]) {
    const rows = await query(
      em,
      sql<Pick<Message, 'id' | 'channel' | 'template'> & { project_id: string }>`
        update messages set next_attempt_at = ${now}
        where (project_id, id) in (
          select project_id, id from messages
          where state = 'pending' and expires_at > ${now} and (template = any(${codes}::text[])) = ${isUrgent}
            and (next_attempt_at <= ${before} or (next_attempt_at is null and created_at <= ${before}))
          order by next_attempt_at limit 500 for update skip locked)
        returning project_id, id, channel, template`,
    );
    for (const { project_id: project, id, ...message } of rows) {
      lost.push({ key: keyIn(project, id), queueName: queueOf(message) });
    }
  }
  return lost;
}
