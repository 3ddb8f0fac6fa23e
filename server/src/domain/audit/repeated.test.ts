import type { MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { adjustableClock } from '../../../test/clock.ts';
import { freshDatabase } from '../../../test/database.ts';
import { openDatabase } from '../../adapters/postgres/database.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { Database } from '../kernel/database.ts';
import { Project } from '../projects/project.entity.ts';
import { activityOf } from './activity.ts';
import { Audit, type AuditEntry } from './audit.ts';
import { AuditEvent } from './audit-event.entity.ts';

const clock = adjustableClock();
const audit = new Audit({ clock, random: systemRandom });
let orm: MikroORM;
let drop: () => Promise<void>;
let db: Database;
let project: string;

beforeAll(async () => {
  const fresh = await freshDatabase();
  drop = fresh.drop;
  orm = await openDatabase({ url: fresh.url });
  db = new Database(orm);
});

afterAll(async () => {
  await orm.close(true);
  await drop();
});

beforeEach(async () => {
  project = systemRandom.id();
  const now = clock.now();
  await db.transaction(async (em) => {
    em.create(Project, { id: project, name: 'Example', createdAt: now, updatedAt: now });
  });
});

function refusal(changes: Partial<AuditEntry> & { ip?: string } = {}): AuditEntry {
  const { ip = '192.0.2.1', ...rest } = changes;
  return { type: 'otp.rejected', actor: { kind: 'anonymous', ip }, projectId: project, ...rest };
}

const record = (entry: AuditEntry, fault = 'wrong') => db.transaction((em) => audit.recordRepeated(em, entry, fault));
const events = () => db.reader().find(AuditEvent, { projectId: project }, { orderBy: { id: 'asc' } });

describe('repeated refusals', () => {
  it('are one event per hour with a count, even if concurrent', async () => {
    const first = clock.now().toISOString();
    await record(refusal());
    clock.turn(60);
    await Promise.all(Array.from({ length: 40 }, () => record(refusal())));
    const lastAt = clock.now().toISOString();
    expect(await events()).toMatchObject([
      { result: 'failure', detail: { fault: 'wrong', network: '192.0.2.1', count: 41, firstAt: first, lastAt } },
    ]);
    clock.turn(3600);
    await record(refusal());
    expect((await events()).map(({ detail }) => detail?.['count'])).toEqual([41, 1]);
  });

  it('are grouped by type, fault, client and network; a /64 of IPv6 is one network', async () => {
    await record(refusal());
    await record(refusal(), 'expired');
    await record(refusal({ type: 'mfa.rejected' }));
    await record(refusal({ clientId: systemRandom.id() }));
    await record(refusal({ ip: '192.0.2.2' }));
    await record(refusal({ ip: '2001:db8::1' }));
    await record(refusal({ ip: '2001:db8::ffff:2' }));
    expect((await events()).map(({ detail }) => detail?.['count'])).toEqual([1, 1, 1, 1, 1, 2]);
  });

  it('keep the subject only while all have the same one', async () => {
    const subject = (id: string) => refusal({ subject: { kind: 'user', id, name: id } });
    await record(subject('ada'));
    await record(subject('ada'));
    expect(await events()).toMatchObject([{ subjectKind: 'user', subjectId: 'ada', subjectName: 'ada' }]);
    await record(subject('grace'));
    await record(subject('ada'));
    expect(await events()).toMatchObject([{ subjectKind: null, subjectId: null, subjectName: null }]);
    expect(await events()).toMatchObject([{ detail: { count: 4 } }]);
  });

  it('keep the id of the sign-in only while all are of the same one', async () => {
    const inSignIn = (signInId?: string) =>
      refusal({ actor: { kind: 'anonymous', ip: '192.0.2.1', ...(signInId && { signInId }) } });
    await record(inSignIn('one'));
    await record(inSignIn('one'));
    expect(await events()).toMatchObject([{ detail: { count: 2, signInId: 'one' } }]);
    await record(inSignIn('two'));
    await record(inSignIn());
    await record(inSignIn('one'));
    const [event, ...others] = await events();
    expect(others).toEqual([]);
    expect(event?.detail).toMatchObject({ count: 5 });
    expect(event?.detail).not.toHaveProperty('signInId');
  });

  it('are rolled back with their transaction, and are written without one', async () => {
    const undone = db.transaction(async (em) => {
      await audit.recordRepeated(em, refusal(), 'wrong');
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await events()).toEqual([]);
    await audit.recordRepeated(db.alone, refusal(), 'wrong');
    expect(await events()).toHaveLength(1);
  });

  it('count individually in the activity of the day', async () => {
    for (let n = 0; n < 3; n += 1) await record(refusal());
    expect(await activityOf(db.reader(), project, clock.now())).toMatchObject([{ refused: 3 }]);
  });
});
