import type { MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { atOnce } from '../../../test/at-once.ts';
import { adjustableClock } from '../../../test/clock.ts';
import { freshDatabase } from '../../../test/database.ts';
import { openDatabase } from '../../adapters/postgres/database.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { Audit } from '../audit/audit.ts';
import { system } from '../kernel/actor.ts';
import { Database } from '../kernel/database.ts';
import { Users } from '../users/users.ts';
import { Project } from './project.entity.ts';
import { Projects } from './projects.ts';

const clock = adjustableClock();
const audit = new Audit({ clock, random: systemRandom });
let orm: MikroORM;
let db: Database;
let drop: () => Promise<void>;
const projectsOf = (issuer: string) =>
  new Projects({ db, clock, random: systemRandom, audit, issuer, canSendSms: true });

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

it('of projects that are created concurrently with one slug, one is created and the others are refused', async () => {
  const projects = projectsOf('https://id.example.com');
  const works = ['one', 'two', 'three'].map((name) => () => projects.create({ name, slug: 'hasty' }, system));
  const made = await atOnce(db, 'projects', works);
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const refused = made.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  for (const reason of refused) expect(reason).toMatchObject({ problem: { code: 'taken', field: 'slug' } });
});

describe('test mode', () => {
  const accessLost = async () => undefined;
  const fill = async (projectId: string, count: number) => {
    const users = new Users({ clock, random: systemRandom, audit, accessLost });
    await db.transaction(async (em) => {
      for (let n = 0; n < count; n += 1) await users.signUp(em, projectId, `user${n}@example.com`, system);
    });
  };

  it('is refused over https with more than 100 users, and allowed with 100 or over http', async () => {
    const secure = projectsOf('https://id.example.com');
    const { id } = await secure.create({ name: 'Grown' }, system);
    await fill(id, 100);
    expect((await secure.update(id, { testMode: true }, system)).testMode).toBe(true);
    await secure.update(id, { testMode: false }, system);
    const users = new Users({ clock, random: systemRandom, audit, accessLost });
    await db.transaction((em) => users.signUp(em, id, 'one-more@example.com', system));
    await expect(secure.update(id, { testMode: true }, system)).rejects.toMatchObject({
      problem: { code: 'invalid', field: 'testMode' },
    });
    expect((await db.reader().findOneOrFail(Project, id)).testMode).toBe(false);
    expect((await projectsOf('http://localhost:3000').update(id, { testMode: true }, system)).testMode).toBe(true);
  });
});

describe('the offered factors', () => {
  it('must include one that works: known, and not only SMS if none can be sent', async () => {
    const projects = projectsOf('http://localhost:3000');
    const { id, offeredFactors } = await projects.create({ name: 'Factors' }, system);
    expect(offeredFactors).toEqual(['totp', 'sms', 'email']);
    const refused = { problem: { code: 'invalid', field: 'offeredFactors' } };
    const faultOf = (work: () => unknown) => {
      try {
        work();
      } catch (error) {
        return error;
      }
    };
    for (const wrong of [[], ['pigeon']]) {
      expect(faultOf(() => projects.update(id, { offeredFactors: wrong as never }, system))).toMatchObject(refused);
    }
    expect((await projects.update(id, { offeredFactors: ['sms', 'sms'] }, system)).offeredFactors).toEqual(['sms']);
    const mute = new Projects({
      db,
      clock,
      random: systemRandom,
      audit,
      issuer: 'http://localhost:3000',
      canSendSms: false,
    });
    expect(faultOf(() => mute.update(id, { offeredFactors: ['sms'] }, system))).toMatchObject(refused);
    expect((await mute.update(id, { offeredFactors: ['sms', 'totp'] }, system)).offeredFactors).toEqual([
      'sms',
      'totp',
    ]);
  });
});

describe('a change', () => {
  it('applies two concurrent updates', async () => {
    const projects = projectsOf('http://localhost:3000');
    const { id } = await projects.create({ name: 'Busy' }, system);
    await Promise.all([
      projects.update(id, { scimEnabled: false }, system),
      projects.update(id, { signUp: 'provisioned_only' }, system),
      projects.updateSessionPolicy(id, { idTokenTtlSeconds: 90 }, system),
    ]);
    expect(await db.reader().findOneOrFail(Project, id)).toMatchObject({
      scimEnabled: false,
      signUp: 'provisioned_only',
      idTokenTtlSeconds: 90,
      version: 4,
    });
  });

  it('writes and audits nothing if nothing changes', async () => {
    const projects = projectsOf('http://localhost:3000');
    const { id } = await projects.create({ name: 'Calm' }, system);
    clock.turn(60);
    const after = await projects.update(id, { name: 'Calm', testMode: false }, system);
    expect([after.version, after.updatedAt < clock.now()]).toEqual([1, true]);
    const events = await db.reader().execute('select type from audit_log where project_id = ?', [id]);
    expect(events).toEqual([{ type: 'project.created' }]);
  });

  it('ignores columns that are not settings', async () => {
    const projects = projectsOf('http://localhost:3000');
    const { id } = await projects.create({ name: 'Mine', builtIn: 'console' } as never, system);
    await projects.update(id, { id: 'x', builtIn: 'console', version: 99 } as never, system);
    expect(await db.reader().findOneOrFail(Project, id)).toMatchObject({ builtIn: null, version: 1 });
  });
});
