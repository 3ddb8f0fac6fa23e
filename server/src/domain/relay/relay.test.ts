import type { MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { adjustableClock } from '../../../test/clock.ts';
import { freshDatabase } from '../../../test/database.ts';
import { openDatabase } from '../../adapters/postgres/database.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { Delivery } from '../delivery/delivery.ts';
import { Database } from '../kernel/database.ts';
import { query, sql } from '../kernel/sql.ts';
import { Vault } from '../keys/vault.ts';
import { Project } from '../projects/project.entity.ts';

const clock = adjustableClock();
const random = systemRandom;
const vault = new Vault(random.bytes(32), random);
const [flooding, other] = [random.id(), random.id()];
let orm: MikroORM;
let db: Database;
let drop: () => Promise<void>;
/** Recipients whose mails the mail server has accepted. */
let accepted: string[];
/** Ends the mails that hang. */
let release: () => void;
let hangs: Promise<void>;

beforeAll(async () => {
  const fresh = await freshDatabase();
  drop = fresh.drop;
  orm = await openDatabase({ url: fresh.url });
  db = new Database(orm);
  await db.transaction(async (em) => {
    const at = { createdAt: clock.now(), updatedAt: clock.now() };
    for (const id of [flooding, other]) em.persist(em.create(Project, { id, name: id, ...at }));
  });
});
afterAll(async () => {
  await orm.close(true);
  await drop();
});
beforeEach(async () => {
  await query(db.alone, sql`delete from messages`);
  accepted = [];
  hangs = new Promise((resolve) => {
    release = resolve;
  });
});

/** A process whose mail server hangs for addresses at hangs.example. */
function process(): Delivery {
  return new Delivery({
    ...{ db, clock, random, vault },
    senders: {
      mail: {
        kind: 'smtp',
        send: async ({ to }) => {
          if (to.endsWith('@hangs.example')) await hangs;
          accepted.push(to);
        },
      },
      sms: null,
    },
    lookOf: async () => ({ name: 'Project', accent: null, words: {} }),
    check: async (_em, { recipient }) => ({ to: recipient }),
    settled: () => undefined,
  });
}

const contents = {
  code: { template: 'sign-in-code', app: 'App', code: '012345', minutes: 5 },
  notice: { template: 'new-device', app: 'App', device: 'Firefox', at: '2026-01-01T00:00:00Z' },
  invitation: { template: 'invitation', app: 'App', url: 'https://app.example', at: '2026-01-01T00:00:00Z' },
} as const;

/** Writes messages of one project to `to`, in one transaction. */
function write(by: Delivery, projectId: string, kind: keyof typeof contents, to: string, count = 1): Promise<void> {
  const message = { projectId, channel: 'mail', to, locale: 'en', content: contents[kind] } as const;
  return db.transaction((em) =>
    by.enqueueNotices(
      em,
      Array.from({ length: count }, () => ({ ...message, context: { account: null, mailbox: to } })),
    ),
  );
}

describe('a project that floods the outbox', () => {
  it('with mails that hang delays neither codes nor notices nor invitations of another', async () => {
    const by = process();
    const fail = (error: unknown) => expect.fail(String(error));
    for (const kind of ['code', 'notice', 'invitation'] as const) {
      await write(by, flooding, kind, 'a@hangs.example', 300);
    }
    await by.relay.start(fail);
    for (const kind of ['code', 'notice', 'invitation'] as const) await write(by, other, kind, `${kind}@b.example`);
    expect(await by.relay.start(fail)).toBe(3);
    await expect
      .poll(() => accepted.toSorted(), { timeout: 60_000 })
      .toEqual(['code@b.example', 'invitation@b.example', 'notice@b.example']);
    release();
    await by.relay.settled();
  });

  it('gets no more than its share of places while another has messages, in each process', async () => {
    const [one, two] = [process(), process()];
    await write(one, flooding, 'code', 'a@hangs.example', 50);
    await write(one, other, 'code', 'b@hangs.example', 50);
    for (const { relay } of [one, two]) expect(await relay.start(() => undefined)).toBe(6);
    const shares = await query(
      db.alone,
      sql<{ n: number }>`select count(*)::int as n from messages where attempts = 1 group by project_id`,
    );
    expect(shares).toEqual([{ n: 6 }, { n: 6 }]);
    release();
    await Promise.all([one.relay.settled(), two.relay.settled()]);
  });
});

describe('an open relay', () => {
  it('sends a message after its commit, and all that waited when places become free, until it is drained', async () => {
    const by = process();
    const errors: unknown[] = [];
    by.relay.open((error) => errors.push(error));
    await write(by, other, 'notice', 'b@example.com', 40);
    await expect.poll(() => accepted.length, { timeout: 60_000 }).toBe(40);
    await by.relay.drain();
    await write(by, other, 'code', 'late@example.com');
    expect(await by.relay.start((error) => errors.push(error))).toBe(0);
    expect(errors).toEqual([]);
  });
});

describe('the lag of a lane', () => {
  it('is the age of its oldest due message; messages in progress or between retries are not due', async () => {
    const by = process();
    await write(by, other, 'notice', 'b@example.com', 2);
    await write(by, other, 'code', 'b@hangs.example');
    clock.turn(40);
    expect((await by.relay.lag()).toSorted((a, b) => a.lane.localeCompare(b.lane))).toEqual([
      { lane: 'codes', pending: 1, seconds: 40 },
      { lane: 'notices', pending: 2, seconds: 40 },
    ]);
    await by.relay.start(() => undefined);
    expect(await by.relay.lag()).toContainEqual({ lane: 'codes', pending: 1, seconds: 0 });
    release();
    await by.relay.settled();
  });
});
