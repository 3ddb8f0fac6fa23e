import type { MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import { turnableClock } from '../../../test/clock.ts';
import { type FreshDatabase, freshDatabase } from '../../../test/database.ts';
import { openDatabase } from '../../adapters/postgres/database.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { Database } from '../kernel/database.ts';
import { Vault } from '../keys/vault.ts';
import { Project } from '../projects/project.entity.ts';
import { keyIn } from '../projects/tenant.ts';
import { Delivery, type MessageContext, type NewMessage, type PreviousContext, type Recipient } from './delivery.ts';
import { Message } from './message.entity.ts';
import { type MailSender, type OutgoingMail, SendError } from './sender.ts';

let database: FreshDatabase;
let orm: MikroORM;
let db: Database;
let asked: string[];
let judged: (MessageContext | PreviousContext)[];
let settled: string[];
let sent: OutgoingMail[];
let failure: Error | null;
let recipient: Recipient;
const clock = turnableClock();
const projectId = systemRandom.id();
const vault = new Vault(systemRandom.bytes(32), systemRandom);

function deliveryBy(kind: MailSender['kind'] | null): Delivery {
  const mail: MailSender = {
    kind: kind ?? 'smtp',
    async send(message) {
      if (failure) throw failure;
      sent.push(message);
    },
  };
  return new Delivery({
    db,
    clock,
    random: systemRandom,
    vault,
    queue: { send: async (_em, _job, { messageId }) => void asked.push(String(messageId)) },
    senders: { mail: kind === null ? null : mail, sms: null },
    lookOf: async () => ({ name: 'Project', accent: null, words: {} }),
    judge: async (_em, _message, context) => {
      judged.push(context);
      return recipient;
    },
    settled: (_em, { state }) => void settled.push(state),
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
beforeEach(() => {
  asked = [];
  judged = [];
  settled = [];
  sent = [];
  failure = null;
  recipient = { to: 'on-record@example.com' };
});

describe('the outbox', () => {
  it('sends once to the address that the judge returns, and deletes the text', async () => {
    const delivery = deliveryBy('smtp');
    const id = await enqueue(delivery);
    expect((await rowOf(id)).state).toBe('pending');
    await delivery.send(keyIn(projectId, id));
    await delivery.send(keyIn(projectId, id));
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
    await delivery.send(keyIn(projectId, asked.at(-1) as string));
    expect(sent).toEqual([]);
  });

  it('seals the recipient with the text, and passes it to the judge and to the record of the outcome', async () => {
    const delivery = deliveryBy('smtp');
    const context = { account: systemRandom.id(), mailbox: 'decided@example.com' };
    const id = await enqueue(delivery, { context });
    expect(JSON.stringify(await rowOf(id))).not.toContain('decided@');
    expect(settled).toEqual([]);
    await delivery.send(keyIn(projectId, id));
    expect(judged).toEqual([expect.objectContaining(context)]);
    expect(settled).toEqual(['sent']);
  });

  it('stores the account as the previous release reads it', async () => {
    const delivery = deliveryBy('smtp');
    const account = systemRandom.id();
    await delivery.send(keyIn(projectId, await enqueue(delivery, { context: { account, mailbox: 'a@example.com' } })));
    await delivery.send(keyIn(projectId, await enqueue(delivery)));
    expect(judged).toEqual([
      expect.objectContaining({ userId: account }),
      expect.not.objectContaining({ userId: null }),
    ]);
    expectTypeOf<NewMessage>().toHaveProperty('context').toEqualTypeOf<MessageContext>();
  });

  it('suppresses a message without recipient, and gives the reason in the log alone', async () => {
    recipient = { suppress: 'no user has this address' };
    const delivery = deliveryBy('smtp');
    const id = await enqueue(delivery);
    await delivery.send(keyIn(projectId, id));
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
    await expect(delivery.send(keyIn(projectId, id))).rejects.toThrow('ECONNREFUSED');
    expect(await rowOf(id)).toMatchObject({ state: 'pending', note: 'mail server ECONNREFUSED', attempts: 1 });
    failure = null;
    await delivery.send(keyIn(projectId, id));
    expect(await rowOf(id)).toMatchObject({ state: 'sent', attempts: 2, note: null });
    const refused = await enqueue(delivery);
    failure = new SendError('mail server 550', true);
    await delivery.send(keyIn(projectId, refused));
    expect(await rowOf(refused)).toMatchObject({ state: 'failed', note: 'mail server 550', sealedContent: null });
  });

  it('does not send an expired code', async () => {
    const delivery = deliveryBy('smtp');
    const id = await enqueue(delivery);
    clock.turn(300);
    await delivery.send(keyIn(projectId, id));
    expect(sent).toEqual([]);
    expect(await rowOf(id)).toMatchObject({ state: 'failed', sealedContent: null });
  });

  it('fails without a sender, and reports it beforehand', async () => {
    const delivery = deliveryBy(null);
    expect(delivery.isAvailable('mail')).toBe(false);
    expect(delivery.fault()).toMatch(/SMTP_URL/);
    const id = await enqueue(delivery);
    await delivery.send(keyIn(projectId, id));
    expect((await rowOf(id)).state).toBe('failed');
  });
});

describe('the dev mailbox', () => {
  it('shows sent messages, newest first and page by page, and no suppressed ones', async () => {
    const delivery = deliveryBy('mailbox');
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push(await enqueue(delivery));
    for (const id of ids) await delivery.send(keyIn(projectId, id));
    recipient = { suppress: 'x' };
    await delivery.send(keyIn(projectId, await enqueue(delivery)));
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
    await delivery.send(keyIn(projectId, await enqueue(delivery)));
    expect(delivery.hasMailbox).toBe(false);
    expect(await delivery.mailbox({ first: 10, after: null })).toEqual({ items: [], hasNextPage: false });
  });

  it('deletes texts after a day and rows after a month', async () => {
    const delivery = deliveryBy('mailbox');
    const id = await enqueue(delivery);
    await delivery.send(keyIn(projectId, id));
    const stuck = await enqueue(delivery);
    clock.turn(24 * 3600);
    await db.transaction((em) => delivery.sweep(em));
    expect((await rowOf(id)).sealedContent).toBeNull();
    expect(await rowOf(stuck)).toMatchObject({ state: 'failed', sealedContent: null });
    clock.turn(30 * 24 * 3600);
    await db.transaction((em) => delivery.sweep(em));
    expect(await db.reader().count(Message)).toBe(0);
  });
});
