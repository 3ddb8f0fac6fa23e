import type { MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { adjustableClock } from '../../../test/clock.ts';
import { type FreshDatabase, freshDatabase } from '../../../test/database.ts';
import { deliverDue } from '../../../test/relayed.ts';
import { openDatabase } from '../../adapters/postgres/database.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { Database } from '../kernel/database.ts';
import { Vault } from '../keys/vault.ts';
import { Project } from '../projects/project.entity.ts';
import { Delivery, type NewMessage } from './delivery.ts';
import { laneOf, messageLanes } from './lanes.ts';
import { Message, outcomeOf } from './message.entity.ts';
import type { MessageContext, Recipient } from './recipient.ts';
import { templateNames } from './samples.ts';
import { type MailSender, type OutgoingMail, SendError } from './sender.ts';

let database: FreshDatabase;
let orm: MikroORM;
let db: Database;
let asked: string[];
let checked: MessageContext[];
let settled: string[];
let expired: string[];
let sent: OutgoingMail[];
let failure: Error | null;
let whileSending: (() => Promise<unknown>) | null;
let recipient: Recipient;
const clock = adjustableClock();
const projectId = systemRandom.id();
const vault = new Vault(systemRandom.bytes(32), systemRandom);

function deliveryBy(kind: MailSender['kind'] | null): Delivery {
  const mail: MailSender = {
    kind: kind ?? 'smtp',
    async send(message) {
      await whileSending?.();
      if (failure) throw failure;
      sent.push(message);
    },
  };
  return new Delivery({
    db,
    clock,
    random: {
      ...systemRandom,
      id: () => {
        const id = systemRandom.id();
        asked.push(id);
        return id;
      },
    },
    vault,
    senders: { mail: kind === null ? null : mail, sms: null },
    lookOf: async () => ({ name: 'Project', accent: null, words: {} }),
    check: async (_em, _message, context) => {
      checked.push(context);
      return recipient;
    },
    settled: (_em, { state }) => void settled.push(state),
    onExpired: (channel, count) => void expired.push(`${channel} ${count}`),
  });
}

const message: NewMessage = {
  projectId,
  channel: 'mail',
  to: 'typed@example.com',
  locale: 'en',
  content: { template: 'sign-in-code', app: 'Acme', code: '012345', minutes: 5 },
  context: { account: null, mailbox: 'typed@example.com' },
};

async function enqueue(delivery: Delivery, over: Partial<NewMessage> = {}): Promise<string> {
  const expiresAt = new Date(clock.now().getTime() + 300_000);
  await db.transaction((em) => delivery.enqueue(em, { ...message, expiresAt, ...over }));
  return asked.at(-1) as string;
}

const send = (delivery: Delivery) => deliverDue(delivery.relay);
const rowOf = (id: string) => db.reader().findOneOrFail(Message, { id });

beforeAll(async () => {
  database = await freshDatabase();
  orm = await openDatabase({ url: database.url });
  db = new Database(orm);
  await db.transaction(async (em) => {
    const now = clock.now();
    em.persist(em.create(Project, { id: projectId, name: 'p', createdAt: now, updatedAt: now }));
  });
});
afterAll(async () => {
  await orm.close(true);
  await database.drop();
});
beforeEach(async () => {
  await db.transaction((em) => em.execute('delete from messages'));
  asked = [];
  checked = [];
  settled = [];
  expired = [];
  sent = [];
  failure = null;
  whileSending = null;
  recipient = { to: 'on-record@example.com' };
});

describe('the outbox', () => {
  it('sends once to the address that the check returns, and deletes the text', async () => {
    const delivery = deliveryBy('smtp');
    const id = await enqueue(delivery);
    expect((await rowOf(id)).state).toBe('pending');
    await send(delivery);
    await send(delivery);
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({ to: 'on-record@example.com', id, subject: expect.stringContaining('012345') });
    expect(await rowOf(id)).toMatchObject({ state: 'sent', recipient: 'on-record@example.com', sealedContent: null });
  });

  it('keeps texts sealed while they wait', async () => {
    const id = await enqueue(deliveryBy('smtp'));
    const { sealedContent } = await rowOf(id);
    expect(Buffer.from(sealedContent as Uint8Array).toString('latin1')).not.toContain('012345');
  });

  it('writes no message if the transaction is rolled back', async () => {
    const delivery = deliveryBy('smtp');
    const rolledBack = db.transaction(async (em) => {
      await delivery.enqueue(em, message);
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    await send(delivery);
    expect(sent).toEqual([]);
  });

  it('seals the recipient with the text, and passes it to the check and to the record of the outcome', async () => {
    const delivery = deliveryBy('smtp');
    const context = { account: systemRandom.id(), mailbox: 'decided@example.com' };
    const id = await enqueue(delivery, { context });
    expect(JSON.stringify(await rowOf(id))).not.toContain('decided@');
    expect(settled).toEqual([]);
    await send(delivery);
    expect(checked).toEqual([expect.objectContaining(context)]);
    expect(settled).toEqual(['sent']);
  });

  it('suppresses a message without recipient, and states the reason only in the log', async () => {
    recipient = { suppress: 'no user has this address' };
    const delivery = deliveryBy('smtp');
    const id = await enqueue(delivery);
    await send(delivery);
    expect(sent).toEqual([]);
    expect(await rowOf(id)).toMatchObject({
      state: 'suppressed',
      note: 'no user has this address',
      sealedContent: null,
    });
  });

  it('retries after a temporary failure, and not after a permanent one', async () => {
    const delivery = deliveryBy('smtp');
    const id = await enqueue(delivery);
    failure = new SendError('mail server ECONNREFUSED', false);
    await expect(send(delivery)).rejects.toThrow('ECONNREFUSED');
    expect(await rowOf(id)).toMatchObject({ state: 'pending', note: 'mail server ECONNREFUSED', attempts: 1 });
    failure = null;
    await send(delivery);
    expect(await rowOf(id)).toMatchObject({ state: 'pending', attempts: 1 });
    clock.turn(1);
    await send(delivery);
    expect(await rowOf(id)).toMatchObject({ state: 'sent', attempts: 2, note: null, nextAttemptAt: null });
    const refused = await enqueue(delivery);
    failure = new SendError('mail server 550', true);
    await send(delivery);
    expect(await rowOf(refused)).toMatchObject({ state: 'failed', note: 'mail server 550', sealedContent: null });
  });

  it('does not send an expired code', async () => {
    const delivery = deliveryBy('smtp');
    const id = await enqueue(delivery);
    clock.turn(300);
    await send(delivery);
    expect(sent).toEqual([]);
    expect(await rowOf(id)).toMatchObject({ state: 'failed', expired: true, sealedContent: null });
    expect(expired).toEqual(['mail 1']);
  });

  it('marks expired messages as expired, with their last failure, except those being sent', async () => {
    const delivery = deliveryBy('smtp');
    const tried = await enqueue(delivery);
    failure = new SendError('mail server ECONNREFUSED', false);
    await expect(send(delivery)).rejects.toThrow('ECONNREFUSED');
    failure = null;
    await db.transaction((em) => em.execute('update messages set next_attempt_at = expires_at where id = ?', [tried]));
    const slow = await enqueue(delivery);
    let untried = '';
    whileSending = async () => {
      whileSending = null;
      untried = await enqueue(delivery, { expiresAt: new Date(clock.now().getTime() + 1000) });
      clock.turn(2);
      await delivery.sweep();
    };
    clock.turn(299);
    await send(delivery);
    expect(expired).toEqual(['mail 2']);
    expect(outcomeOf(await rowOf(slow))).toBe('sent');
    expect(await rowOf(tried)).toMatchObject({ expired: true, note: 'mail server ECONNREFUSED' });
    expect(outcomeOf(await rowOf(untried))).toBe('expired');
    const page = { first: 100, after: null };
    expect((await delivery.log(db.reader(), projectId, { state: 'expired' }, page)).items).toHaveLength(2);
    expect((await delivery.log(db.reader(), projectId, { state: 'failed' }, page)).items).toHaveLength(0);
  });

  it('fails without a sender, and reports it beforehand', async () => {
    const delivery = deliveryBy(null);
    expect(delivery.isAvailable('mail')).toBe(false);
    expect(delivery.fault()).toMatch(/SMTP_URL/);
    const id = await enqueue(delivery);
    await send(delivery);
    expect((await rowOf(id)).state).toBe('failed');
  });
});

describe('an unreachable mail server', () => {
  const notice: Partial<NewMessage> = {
    content: { template: 'new-device', app: 'Acme', device: 'Firefox', at: '2026-01-01T00:00:00Z' },
  };
  const pauseOf = async (id: string) =>
    (((await rowOf(id)).nextAttemptAt as Date).getTime() - clock.now().getTime()) / 1000;

  it.each([3600, 20 * 3600])('for %i seconds delays notices, but loses none', async (seconds) => {
    const delivery = deliveryBy('smtp');
    const expiresAt = new Date(clock.now().getTime() + 24 * 3_600_000);
    const id = await enqueue(delivery, { ...notice, expiresAt });
    const end = clock.now().getTime() + seconds * 1000;
    failure = new SendError('mail server ECONNREFUSED', false);
    while (clock.now().getTime() < end) {
      await expect(send(delivery)).rejects.toThrow('ECONNREFUSED');
      const pause = await pauseOf(id);
      expect(pause).toBeLessThanOrEqual(900);
      clock.turn(pause);
    }
    failure = null;
    await send(delivery);
    expect(await rowOf(id)).toMatchObject({ state: 'sent' });
  });

  it('is retried every 30 seconds for a code, until the code expires', async () => {
    const delivery = deliveryBy('smtp');
    const id = await enqueue(delivery);
    failure = new SendError('mail server ECONNREFUSED', false);
    for (let attempt = 0; attempt < 14; attempt += 1) {
      await expect(send(delivery)).rejects.toThrow('ECONNREFUSED');
      clock.turn(Math.min(30, await pauseOf(id)));
    }
    clock.turn(60);
    await send(delivery);
    expect(await rowOf(id)).toMatchObject({ state: 'failed', note: 'mail server ECONNREFUSED', sealedContent: null });
  });
});

describe('the lanes of messages', () => {
  it('keep codes apart from security notices, and both from invitations and SMS', () => {
    const lanes = (channel: 'mail' | 'sms', template: string) => messageLanes[laneOf({ channel, template })]?.name;
    const invitations = ['invitation', 'organization-invitation', 'admin-invitation'];
    const bulk = [
      ...invitations,
      'sign-up-requests',
      'scim-token-expiring',
      'certificate-expiring',
      'webhook-disabled',
    ];
    for (const template of templateNames) {
      const isUrgent = /-code$|^test-message$/.test(template);
      const lane = isUrgent ? 'codes' : bulk.includes(template) ? 'bulk' : 'notices';
      expect(lanes('mail', template), template).toBe(lane);
      expect(lanes('sms', template)).toBe('sms');
    }
  });
});

describe('a message in progress', () => {
  it('is sent once, even if the mail server is slow', async () => {
    const delivery = deliveryBy('smtp');
    const id = await enqueue(delivery);
    whileSending = async () => {
      whileSending = null;
      const other = deliveryBy('smtp').relay;
      await other.recover();
      expect(await other.start((error) => expect.fail(String(error)))).toBe(0);
    };
    await send(delivery);
    expect(sent).toHaveLength(1);
    expect(await rowOf(id)).toMatchObject({ state: 'sent', attempts: 1 });
  });

  it('is sent once by 40 processes', async () => {
    await enqueue(deliveryBy('smtp'));
    await Promise.all(Array.from({ length: 40 }, () => send(deliveryBy('smtp'))));
    expect(sent).toHaveLength(1);
  });

  it('is sent again after a minute if its process has stopped, and that process changes nothing later', async () => {
    const [first, second] = [deliveryBy('smtp'), deliveryBy('smtp')];
    const id = await enqueue(first);
    const { promise: paused, resolve: isPaused } = Promise.withResolvers<void>();
    const { promise: pause, resolve: resume } = Promise.withResolvers<void>();
    whileSending = async () => {
      whileSending = null;
      isPaused();
      await pause;
      failure = new SendError('mail server ETIMEDOUT', false);
    };
    const sending = send(first);
    await paused;
    await send(second);
    expect(sent).toHaveLength(0);
    clock.turn(61);
    await send(second);
    expect(sent).toHaveLength(1);
    resume();
    await expect(sending).rejects.toThrow('ETIMEDOUT');
    expect(await rowOf(id)).toMatchObject({ state: 'sent', attempts: 2 });
  });
});

describe('a message whose clock was set back by an hour', () => {
  it.each([
    ['waits for its first attempt', null, 0],
    ['waits for a retry', 'mail server ECONNREFUSED', 1],
    ['was being sent by a process that has died', null, 1],
  ])('is sent if it %s', async (_state, note, attempts) => {
    const delivery = deliveryBy('smtp');
    clock.turn(3600);
    const id = await enqueue(delivery, { expiresAt: new Date(clock.now().getTime() + 7_200_000) });
    const until = new Date(clock.now().getTime() + attempts * 60_000);
    const change = 'update messages set note = ?, attempts = ?, next_attempt_at = ? where id = ?';
    await db.transaction((em) => em.execute(change, [note, attempts, until, id]));
    clock.turn(-3600);
    await send(delivery);
    expect(sent).toEqual([]);
    await delivery.relay.recover();
    await send(delivery);
    expect(await rowOf(id)).toMatchObject({ state: 'sent' });
  });

  it('keeps a pause that is no longer than it may be', async () => {
    const delivery = deliveryBy('smtp');
    const id = await enqueue(delivery);
    const until = new Date(clock.now().getTime() + 60_000);
    await db.transaction((em) => em.execute('update messages set attempts = 1, next_attempt_at = ?', [until]));
    await delivery.relay.recover();
    expect((await rowOf(id)).nextAttemptAt).toEqual(until);
  });
});

describe('the dev mailbox', () => {
  it('shows sent messages, newest first and page by page, and no suppressed ones', async () => {
    const delivery = deliveryBy('mailbox');
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push(await enqueue(delivery));
    await send(delivery);
    recipient = { suppress: 'x' };
    await enqueue(delivery);
    await send(delivery);
    const first = await delivery.mailbox({ first: 2, after: null });
    expect(first.items.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    expect(first.hasNextPage).toBe(true);
    expect(first.items[0]).toMatchObject({
      to: 'on-record@example.com',
      channel: 'mail',
      text: expect.stringContaining('012345'),
    });
    const second = await delivery.mailbox({ first: 2, after: ids[1] as string });
    expect(second.items.map(({ id }) => id)).toContain(ids[0]);
  });

  it('is empty if messages leave the instance', async () => {
    const delivery = deliveryBy('smtp');
    await enqueue(delivery);
    await send(delivery);
    expect(delivery.hasMailbox).toBe(false);
    expect(await delivery.mailbox({ first: 10, after: null })).toEqual({ items: [], hasNextPage: false });
  });

  it('deletes texts after a day and rows after a month', async () => {
    const delivery = deliveryBy('mailbox');
    const id = await enqueue(delivery);
    await send(delivery);
    const stuck = await enqueue(delivery);
    clock.turn(24 * 3600);
    await delivery.sweep();
    expect((await rowOf(id)).sealedContent).toBeNull();
    expect(await rowOf(stuck)).toMatchObject({ state: 'failed', sealedContent: null });
    clock.turn(30 * 24 * 3600);
    await delivery.sweep();
    expect(await db.reader().count(Message)).toBe(0);
  });
});
