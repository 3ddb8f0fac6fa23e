import { describe, expect, it } from 'vitest';
import {
  clock,
  deliver,
  deliveries,
  idsSent,
  lab,
  lease,
  openLab,
  process,
  record,
  row,
  subjectsSent,
  webhook,
} from '../../../test/webhook-lab.ts';
import { query, sql } from '../kernel/sql.ts';
import type { WebhookOutcome } from './attempts.ts';

openLab();

describe('several processes', () => {
  it('do not deliver to one webhook at the same time', async () => {
    await webhook(['user.updated']);
    const ids: string[] = [];
    for (let n = 0; n < 40; n += 1) ids.push(await record(`user ${n % 5}`));
    await Promise.all([deliver(), deliver(lab.other), deliver(), deliver(lab.other)]);
    await deliver();
    expect(idsSent().toSorted()).toEqual(ids.toSorted());
  });

  it('replace one that died; it changes nothing when it continues', async () => {
    const { webhook: made } = await webhook(['user.updated']);
    const ids = [await record('ada'), await record('ada'), await record('ada')];
    let revive: (outcome: WebhookOutcome) => void = () => undefined;
    lab.answer = () => new Promise((resolve) => (revive = resolve));
    await lab.services.webhookRelay.start(() => undefined);
    await expect.poll(() => lab.sent.length).toBe(1);
    lab.answer = () => ({ status: 200 });
    await deliver(lab.other);
    expect(lab.sent).toHaveLength(1);
    clock.turn(31);
    await deliver(lab.other);
    expect(idsSent()).toEqual([ids[0], ...ids]);
    revive({ status: 500 });
    await lab.services.webhookRelay.settled();
    expect(lab.sent).toHaveLength(4);
    expect((await deliveries(made)).map(({ state }) => state)).toEqual(['delivered', 'delivered', 'delivered']);
    expect(await row(made)).toMatchObject({ failures: 0 });
  });

  it('keep their claims while another one is restarted', async () => {
    const { webhook: made } = await webhook(['user.updated']);
    const ids = [await record('ada'), await record('ada')];
    const waiting: ((outcome: WebhookOutcome) => void)[] = [];
    lab.answer = () => new Promise((resolve) => waiting.push(resolve));
    for (const each of [lab.services, lab.other]) {
      const before = lab.sent.length;
      await each.webhookRelay.start(() => undefined);
      await expect.poll(() => lab.sent.length).toBe(before + 1);
      clock.turn(each === lab.services ? 19 : 0);
    }
    const held = await lease(made);
    waiting[0]?.({ status: 200 });
    await lab.services.webhookRelay.settled();
    expect([await lease(made), idsSent()]).toEqual([held, [ids[0], ids[0]]]);
    lab.answer = () => ({ status: 200 });
    waiting[1]?.({ status: 200 });
    await lab.other.webhookRelay.settled();
    expect(idsSent()).toEqual([ids[0], ...ids]);
  });

  it('renew their claim before it ends, even if the receiver is slow', async () => {
    await webhook(['user.updated']);
    const ids: string[] = [];
    for (let n = 0; n < 8; n += 1) ids.push(await record('ada'));
    lab.answer = async () => {
      clock.turn(4);
      await lab.other.webhookRelay.start((error) => expect.fail(String(error)));
      return { status: 200 };
    };
    await deliver();
    await lab.other.webhookRelay.settled();
    await deliver();
    expect(idsSent()).toEqual(ids);
  });

  it('wait for every request that they have sent, even if the result of one cannot be written', async () => {
    await webhook(['user.updated']);
    await query(lab.services.db.alone, sql`create sequence writes_refused`);
    await query(
      lab.services.db.alone,
      sql`create function refuse_write() returns trigger language plpgsql as $$ begin
          perform nextval('writes_refused'); raise exception 'disk full'; end $$`,
    );
    await query(
      lab.services.db.alone,
      sql`create trigger refused before update on webhook_deliveries for each row
          when (new.attempts->-1->>'status' = '299') execute function refuse_write()`,
    );
    for (const subject of ['ada', 'grace', 'grace']) await record(subject);
    let finish: (outcome: WebhookOutcome) => void = () => undefined;
    lab.answer = ({ body }) =>
      body.includes('"ada"') ? { status: 299 } : new Promise((resolve) => (finish = resolve));
    const order: string[] = [];
    await lab.services.webhookRelay.start((error) => order.push(`the run ends: ${(error as Error).message}`));
    const refused = async () =>
      (await query(lab.services.db.alone, sql<{ is: boolean }>`select is_called as is from writes_refused`))[0]?.is;
    await expect.poll(async () => lab.sent.length === 2 && (await refused())).toBe(true);
    for (let n = 0; n < 20; n += 1) await refused();
    order.push('the last response');
    finish({ status: 200 });
    await lab.services.webhookRelay.settled();
    expect(order).toEqual(['the last response', expect.stringMatching(/^the run ends: .*disk full/)]);
    expect(subjectsSent().sort()).toEqual(['ada', 'grace']);
    await query(lab.services.db.alone, sql`drop function refuse_write cascade`);
    clock.turn(19);
    lab.answer = () => ({ status: 200 });
    await deliver();
    expect(subjectsSent().sort()).toEqual(['ada', 'ada', 'grace', 'grace']);
  });

  it('stop sending when they shut down, and leave the rest to others', async () => {
    await webhook(['user.updated']);
    const [first, second] = [await record('ada'), await record('ada')];
    let finish: (outcome: WebhookOutcome) => void = () => undefined;
    lab.answer = () => new Promise((resolve) => (finish = resolve));
    const stopping = process();
    await stopping.webhookRelay.start(() => undefined);
    await expect.poll(() => lab.sent.length).toBe(1);
    const drained = stopping.webhookRelay.drain();
    lab.answer = () => ({ status: 200 });
    finish({ status: 200 });
    await drained;
    expect(idsSent()).toEqual([first]);
    await deliver();
    expect(idsSent()).toEqual([first, second]);
  });
});
