import type { MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { adjustableClock } from '../../../test/clock.ts';
import { freshDatabase } from '../../../test/database.ts';
import { migrationLock, openDatabase } from '../../adapters/postgres/database.ts';
import { randomOn } from '../../adapters/system/random.ts';
import { buildServices, type Services } from '../../services.ts';
import type { EventType } from '../audit/event-types.ts';
import { system } from '../kernel/actor.ts';
import { noQueue } from '../kernel/queue.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import type { Project } from '../projects/project.entity.ts';
import type { Batch, BatchOutcome } from './batch.ts';
import type { LogStream, StreamKind } from './log-stream.entity.ts';
import type { StreamSettings } from './stream-settings.ts';

const clock = adjustableClock();
let orm: MikroORM;
let drop: () => Promise<void>;
/** Two processes on one database. */
let services: Services;
let other: Services;
let sent: Batch[];
let answer: (batch: Batch) => BatchOutcome | Promise<BatchOutcome>;
let project: Project;

beforeAll(async () => {
  const fresh = await freshDatabase();
  drop = fresh.drop;
  orm = await openDatabase({ url: fresh.url, rowSecurity: true });
  [services, other] = [process(), process()];
});
afterAll(async () => {
  await orm.close(true);
  await drop();
});
beforeEach(async () => {
  await execute(services.db.alone, sql`delete from log_streams`);
  await execute(services.db.alone, sql`delete from stream_events`);
  sent = [];
  answer = () => ({ accepted: true });
  project = await services.projects.create({ name: 'Acme' }, system);
});

function process(): Services {
  return buildServices(
    {
      ...{ orm, clock, random: randomOn(clock), queue: noQueue, senders: { mail: null, sms: null } },
      postLogoutToken: async () => ({ status: 200 }),
      hasStreamFolder: true,
      sendBatch: async (batch) => {
        sent.push(batch);
        return answer(batch);
      },
    },
    { issuer: 'https://id.example.com', masterKey: new Uint8Array(32), allowPrivateTargets: false },
  );
}

const plain: StreamSettings = {
  ...{ target: 'https://logs.example.com/in', description: '', types: ['user.*'], format: 'json-lines' },
  ...{ gzip: false, header: null, secret: null },
};

function stream(settings: Partial<StreamSettings> = {}, of: Project | null = project, kind: StreamKind = 'http') {
  return services.logStreams.create(of?.id ?? null, kind, { ...plain, ...settings }, system);
}

const keyOf = ({ id, project: of }: LogStream) => ({ id, projectId: of?.id ?? null });

/** Records an event about `subject`. */
function record(subject: string, type: EventType = 'user.updated', of: Project | null = project) {
  return services.db.transaction(async (em) => {
    const about = { subject: { kind: 'user', id: subject, name: `name of ${subject}` } };
    return services.audit.record(em, { type, actor: system, ...(of && { projectId: of.id }), ...about }).id;
  });
}

async function deliver(by = services): Promise<void> {
  await by.streamRelay.start((error) => expect.fail(String(error)));
  await by.streamRelay.settled();
}

const linesOf = (batch: Batch) => batch.body.toString().trim().split('\n');
const eventsIn = (batch: Batch) =>
  linesOf(batch).map((line) => JSON.parse(line) as { type: string; data: { id: string; subject: { id: string } } });
const subjects = () => sent.flatMap((batch) => eventsIn(batch).map(({ data }) => data.subject.id));

async function row(of: LogStream) {
  return services.logStreams.get(services.db.reader(), keyOf(of));
}

describe('a log stream', () => {
  it('receives the events that match its filter, in order, in one batch, once', async () => {
    const made = await stream({ header: 'Authorization', secret: 'Bearer abc' });
    const ids = [await record('ada'), await record('grace'), await record('ada')];
    await record('ada', 'group.updated');
    await deliver();
    await deliver();
    expect(sent).toHaveLength(1);
    expect(eventsIn(sent[0] as Batch).map(({ data }) => data.id)).toEqual(ids);
    expect(sent[0]).toMatchObject({
      ...{ kind: 'http', url: plain.target, contentType: 'application/x-ndjson' },
      headers: { Authorization: 'Bearer abc' },
    });
    expect(await row(made)).toMatchObject({ position: 4, failures: 0, lastDeliveredAt: clock.now() });
    expect(await services.logStreams.lag(await row(made))).toEqual({ waiting: 0, since: null });
  });

  it('of a project receives only its events; one of the instance, those of the instance and of all projects', async () => {
    const foreign = await services.projects.create({ name: 'Other' }, system);
    await stream();
    await stream({ target: 'https://all.example.com/' }, null);
    await record('ours');
    await record('theirs', 'user.updated', foreign);
    await record('instance', 'user.updated', null);
    await deliver();
    const at = (url: string) =>
      sent
        .filter((one) => one.kind === 'http' && one.url === url)
        .flatMap(eventsIn)
        .map(({ data }) => data.subject.id);
    expect(at(plain.target)).toEqual(['ours']);
    expect(at('https://all.example.com/')).toEqual(['ours', 'theirs', 'instance']);
  });

  it('receives events while a backup runs, which holds the lock of migrations', async () => {
    await stream();
    await record('ada');
    await services.db.transaction(async (em) => {
      await query(em, sql`select pg_advisory_xact_lock_shared(${migrationLock})`);
      await deliver();
    });
    expect(subjects()).toEqual(['ada']);
  });

  it('misses no event that commits late, behind newer ones, and gets none that is rolled back', async () => {
    await stream();
    let commit: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (commit = resolve));
    const entry = (id: string) =>
      ({ type: 'user.updated', actor: system, projectId: project.id, subject: { kind: 'user', id } }) as const;
    let isWritten: () => void = () => undefined;
    const written = new Promise<void>((resolve) => (isWritten = resolve));
    const slow = services.db.transaction(async (em) => {
      services.audit.record(em, entry('slow'));
      await em.flush();
      isWritten();
      await held;
    });
    const undone = services.db.transaction(async (em) => {
      services.audit.record(em, entry('undone'));
      await em.flush();
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await written;
    await record('fast');
    await deliver();
    expect(subjects()).toEqual(['fast']);
    commit();
    await slow;
    await deliver();
    expect(subjects()).toEqual(['fast', 'slow']);
  });

  it('receives from one process at a time', async () => {
    await stream();
    await record('ada');
    let release: (outcome: BatchOutcome) => void = () => undefined;
    answer = () => new Promise((done) => (release = done));
    await services.streamRelay.start((error) => expect.fail(String(error)));
    await expect.poll(() => sent.length).toBe(1);
    await deliver(other);
    expect(sent).toHaveLength(1);
    release({ accepted: true });
    await services.streamRelay.settled();
    await deliver(other);
    expect(sent).toHaveLength(1);
  });

  it('receives a batch again if the process died before recording it', async () => {
    const made = await stream();
    const id = await record('ada');
    answer = () => new Promise(() => undefined);
    await process().streamRelay.start((error) => expect.fail(String(error)));
    await expect.poll(() => sent.length).toBe(1);
    answer = () => ({ accepted: true });
    await deliver(other);
    expect(sent).toHaveLength(1);
    clock.turn(31);
    await deliver(other);
    expect(sent.flatMap(eventsIn).map(({ data }) => data.id)).toEqual([id, id]);
    expect((await row(made)).position).toBe(1);
  });

  it('that hangs or fails delays no other', async () => {
    await stream({ target: 'https://hangs.example.com/' });
    await stream({ target: 'https://fails.example.com/' });
    await stream();
    answer = (batch) => {
      const url = batch.kind === 'http' ? batch.url : '';
      if (url.includes('hangs')) return new Promise(() => undefined);
      return url.includes('fails') ? { error: 'status 500' } : { accepted: true };
    };
    const dying = process();
    await record('ada');
    await dying.streamRelay.start((error) => expect.fail(String(error)));
    const healthy = () => sent.filter((one) => one.kind === 'http' && one.url === plain.target).length;
    await expect.poll(healthy).toBe(1);
    await record('grace');
    await expect.poll(async () => (await dying.streamRelay.start(() => undefined), healthy())).toBe(2);
  });

  it('that fails waits, states the reason, tries smaller batches, and continues at the event after the last delivered one', async () => {
    const made = await stream();
    for (let n = 0; n < 4; n += 1) await record(`user ${n}`);
    answer = () => ({ error: 'status 413' });
    await deliver();
    await deliver();
    expect(sent).toHaveLength(1);
    expect(await row(made)).toMatchObject({
      position: 0,
      failures: 1,
      lastError: 'status 413',
      failingSince: clock.now(),
    });
    expect(await services.logStreams.lag(await row(made))).toMatchObject({ waiting: 4 });
    for (let n = 0; n < 9; n += 1) {
      clock.turn(61);
      await deliver();
    }
    expect(eventsIn(sent.at(-1) as Batch)).toHaveLength(1);
    answer = () => ({ accepted: true });
    sent = [];
    clock.turn(61);
    await deliver();
    expect(subjects()).toEqual(['user 0', 'user 1', 'user 2', 'user 3']);
    expect(await row(made)).toMatchObject({ failures: 0, lastError: null, failingSince: null });
  });

  it('that is paused keeps its events in the sweep, which removes only those that all streams have passed', async () => {
    const made = await stream();
    const second = await stream({ target: 'https://second.example.com/' });
    await services.logStreams.update(keyOf(made), { paused: true }, system);
    await record('ada');
    await deliver();
    expect(sent).toHaveLength(1);
    const kept = async () => (await query(services.db.alone, sql`select from stream_events`)).length;
    const sweep = async () => {
      // The database's clock has set these times.
      await execute(
        services.db.alone,
        sql`update stream_events set queued_at = ${clock.now()}::timestamptz - interval '30 minutes'`,
      );
      await services.retention.sweep();
    };
    await sweep();
    expect(await kept()).toBeGreaterThan(0);
    await services.logStreams.update(keyOf(made), { paused: false }, system);
    await deliver();
    expect(subjects()).toEqual(['ada', 'ada']);
    await sweep();
    expect(await kept()).toBe(0);
    await record('grace');
    await deliver();
    expect(subjects().filter((subject) => subject === 'grace')).toHaveLength(2);
    expect((await row(second)).position).toBeGreaterThan(1);
  });

  it('receives an event that had no position when the sweep ran', async () => {
    await stream();
    await record('ada');
    await execute(
      services.db.alone,
      sql`update stream_events set queued_at = ${clock.now()}::timestamptz - interval '30 minutes'`,
    );
    await services.retention.sweep();
    await deliver();
    expect(subjects()).toEqual(['ada']);
  });

  it('receives its own test event regardless of its filter, and those of others only by its filter', async () => {
    const [made] = [await stream({ types: ['group.*'] }), await stream({ target: 'https://other.example.com/' })];
    const { id } = await services.logStreams.test(keyOf(made), system);
    await deliver();
    expect(sent.flatMap(eventsIn).map(({ type, data }) => [type, data.id])).toEqual([['log-stream.tested', id]]);
  });

  it('receives events without the values that an erasure removed', async () => {
    await stream();
    const userId = await services.newUsers.add(project.id, { email: 'ada@example.com' }, { invite: false }, system);
    await services.accounts.remove(project.id, userId, system);
    await deliver();
    expect(sent.flatMap(eventsIn).map(({ type }) => type)).toEqual(['user.created', 'user.erased']);
    for (const batch of sent) expect(batch.body.toString()).not.toMatch(/ada/i);
  });

  it('is deleted with its project, including its secret', async () => {
    await stream({ secret: 'Bearer abc' });
    await services.projects.delete(project.id, project.name, system);
    expect(await query(services.db.alone, sql`select from log_streams`)).toEqual([]);
  });
});

describe('a batch', () => {
  it('over HTTP is a compressed array if so configured', async () => {
    await stream({ format: 'json-array', gzip: true, header: 'X-Key', secret: 'k' });
    await record('ada');
    await deliver();
    const [batch] = sent as [Batch & { kind: 'http' }];
    const { gunzipSync } = await import('node:zlib');
    expect(JSON.parse(gunzipSync(batch.body).toString())).toMatchObject([{ data: { subject: { id: 'ada' } } }]);
    expect(batch).toMatchObject({
      contentType: 'application/json',
      headers: { 'X-Key': 'k', 'Content-Encoding': 'gzip' },
    });
  });

  it('ends at 1 MB, and the next follows', async () => {
    await stream();
    const detail = { text: 'x'.repeat(300_000) };
    for (let n = 0; n < 5; n += 1) {
      await services.db.transaction(async (em) => {
        services.audit.record(em, { type: 'user.updated', actor: system, projectId: project.id, detail });
      });
    }
    await deliver();
    expect(sent.map((batch) => linesOf(batch).length)).toEqual([3, 2]);
  });

  it('for syslog is framed by its octets', async () => {
    await stream({ target: 'tls://logs.example.com:6514' }, project, 'syslog');
    await record('größe');
    await deliver();
    const [{ body, receiver } = expect.fail()] = sent as (Batch & { kind: 'syslog' })[];
    expect(receiver).toEqual({ host: 'logs.example.com', port: 6514, tls: true });
    const [, octets, message = ''] = /^(\d+) (.*)$/s.exec(body.toString()) ?? [];
    expect(Number(octets)).toBe(Buffer.byteLength(message));
    expect(message).toMatch(/^<110>1 \S+Z id\.example\.com latchkey - user\.updated \[latchkey@32473 id="/);
  });
});
