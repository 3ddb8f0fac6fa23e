import { describe, expect, it } from 'vitest';
import {
  clock,
  deliver,
  deliveries,
  lab,
  openLab,
  process,
  record,
  row,
  subjectsSent,
  webhook,
} from '../../../test/webhook-lab.ts';
import { system } from '../kernel/actor.ts';
import { execute, type Fragment, sql } from '../kernel/sql.ts';
import type { WebhookOutcome } from './attempts.ts';

openLab();

describe('many receivers that hang', () => {
  it('delay no other, even if they are more than a process calls at a time', async () => {
    const projects = await Promise.all(
      Array.from({ length: 13 }, (_, n) => lab.services.projects.create({ name: `Project ${n}` }, system)),
    );
    const { promise: hangs, resolve: release } = Promise.withResolvers<WebhookOutcome>();
    lab.answer = ({ url }) => (url.includes('hangs') ? hangs : { status: 204 });
    for (const project of projects) {
      for (let n = 0; n < 18; n += 1) await webhook(['user.updated'], `https://hangs.example.com/${n}`, project);
      for (let n = 0; n < 2; n += 1) await webhook(['user.updated'], `https://well.example.com/${n}`, project);
    }
    const errors: unknown[] = [];
    const { webhookRelay } = process();
    webhookRelay.open((error) => errors.push(error));
    for (const project of projects) await record('ada', 'user.updated', project);
    const good = () => lab.sent.filter(({ url }) => url.includes('well')).length;
    await expect.poll(good, { timeout: 60_000 }).toBe(26);
    await expect.poll(() => lab.sent.length, { timeout: 60_000 }).toBe(13 * 20);
    release({ error: 'no answer in time' });
    await webhookRelay.drain();
    expect(errors).toEqual([]);
  });
});

describe('a clock that was ahead by an hour and is set back', () => {
  it.each<[string, (id: string) => Fragment | undefined]>([
    ['an event that waits', () => undefined],
    ['a claim of a process that has died', (id) => sql`update webhooks set lease = ${id}, leased_until = ${later(18)}`],
    ['a claim that has ended', () => sql`update webhooks set leased_until = ${later(0)}`],
    ['a pause of the receiver', () => sql`update webhooks set failures = 3, next_attempt_at = ${later(5)}`],
    ['a retry', () => sql`update webhook_deliveries set tries = 1, next_attempt_at = ${later(10)}`],
  ])('does not delay events for %s', async (_what, left) => {
    clock.turn(3600);
    const { webhook: made } = await webhook(['user.updated']);
    await record('ada');
    const statement = left(made.id);
    if (statement) await execute(lab.services.db.alone, statement);
    clock.turn(-3600);
    await deliver();
    expect(lab.sent).toEqual([]);
    await lab.services.webhookRelay.recover();
    await deliver();
    expect(subjectsSent()).toEqual(['ada']);
    expect(await deliveries(made)).toMatchObject([{ state: 'delivered' }]);
  });

  it('ends no pause or retry that is as long as it may be', async () => {
    const { webhook: made } = await webhook(['user.updated']);
    lab.answer = () => ({ status: 500 });
    for (const subject of ['ada', 'grace', 'alan']) await record(subject);
    await deliver();
    const before = await row(made);
    await lab.services.webhookRelay.recover();
    await deliver();
    expect(lab.sent).toHaveLength(3);
    expect(await row(made)).toEqual(before);
  });
});

function later(seconds: number): Date {
  return new Date(clock.now().getTime() + seconds * 1000);
}

describe('the lag of webhooks', () => {
  const lag = async () => (await lab.services.webhookRelay.lag()).find(({ lane }) => lane === 'webhooks');

  it('is the age of the oldest event that could be sent, also behind a claim that does not end', async () => {
    const { webhook: made } = await webhook(['user.updated']);
    await record('ada');
    await execute(
      lab.services.db.alone,
      sql`update webhooks set lease = ${made.id}, leased_until = ${later(3600)} where id = ${made.id}`,
    );
    clock.turn(90);
    expect(await lag()).toEqual({ lane: 'webhooks', pending: 1, seconds: 90 });
    await lab.services.webhookRelay.recover();
    await deliver();
    expect(await lag()).toEqual({ lane: 'webhooks', pending: 0, seconds: 0 });
  });
});
